// What one graph is optimized by, and what becomes known of it from round to round.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/parallel.h"
#include "fold/fold.h"
#include "graph/wiring.h"
#include "optimize/flow.h"
#include "optimize/net.h"
#include "prove/contents.h"

namespace gedit::optimizing {

// What is to be done (docs/rules.md#optimize-passes).
struct Passes {
  bool branches = false, algebra = false, dropout = false, fold = false, share = false;
  bool any_dropout = false;  // whatever it keeps: changes values
  bool controls = false;     // control inputs that tell nothing
  Droppable drops;
  bool any() const {
    return branches || algebra || dropout || any_dropout || fold || share || controls || drops.identities ||
           drops.checks || drops.prints || drops.summaries;
  }
};

// What was done, for the line on standard error.
using Counts = std::map<std::string, std::map<std::string, uint64_t>>;  // section, word

// A step that the proof takes as given: in the input's graph, the tensor is the same as another one, or has
// this value. Names as in that graph; `function` is empty for the main one.
struct Assumption {
  std::string function, tensor, same_as, tensor_proto;
};

// Why a node is not needed any more; both are constants of the program or texts of the net.
struct Reason {
  const char* section = nullptr;
  std::string_view word;
  bool operator==(const Reason&) const = default;
  // Its very text: a short way to say that it is the same.
  bool same_text(const Reason& other) const {
    return section == other.section && word.data() == other.word.data() && word.size() == other.word.size();
  }
};

struct Subject {
  Subject(Net& net, const Effects& effects, Contents& contents)
      : net(net), effects(effects), contents(contents) {}

  Net& net;
  const Effects& effects;
  Contents& contents;
  Passes passes;
  std::vector<Number> asked;  // of which anything counts
  // Nodes that were there from the beginning, as their NodeIds.
  NodeSet kept;                        // stay under their names, with their values
  NodeSet kept_more;                   // outputs behind the first as well
  NodeSet untouched;                   // stay as they are
  NodeSet bypassed;                    // go whatever they are, and what each reads first stands for it
  std::string function;                // empty: the main graph
  std::vector<In> returned;            // by a function
  std::vector<ContentId> content_ids;  // by node: of a Const, where known
  std::vector<Assumption> assumptions;
  std::unordered_map<Number, folding::ConstTensor> known;  // what a node gives because of shapes
  std::unordered_set<Number> same_shape;                   // nodes that give the shape that they read first
  std::unordered_set<Number> one_shape;  // all that they read is of one shape, known in full
  bool inlines = false;                  // calls give way to what they call, too
  Library* library = nullptr;            // of the functions that nodes name
  std::optional<std::unordered_set<std::string_view>> scopes;  // in which needed nodes are, once asked for
  folding::NodeFolder folder{net.ops()};
  bool fold_larger = true;           // into constants of more bytes than what goes for them
  bool larger = false;               // that was done
  uint64_t folded = 0;               // nodes
  uint64_t made = 0;                 // bytes of what they became
  bool learns_more = false;          // of shapes, when they are looked at again
  std::vector<std::string> inexact;  // what was done that changes values

  bool is_kept(Number n) const { return kept.has(NodeId{n}); }
  bool keeps_more(Number n) const { return kept_more.has(NodeId{n}); }
  bool is_untouched(Number n) const { return untouched.count() > 0 && untouched.has(NodeId{n}); }
  bool is_bypassed(Number n) const { return bypassed.count() > 0 && bypassed.has(NodeId{n}); }
  // What a Const holds, read once for all its readers; null where that is not known.
  const folding::ConstTensor* constant(Number n) {
    const std::string_view def = net.def(n);
    Value& value = values_[n];
    if (value.def != def.data()) value = {def.data(), folding::const_value(def)};
    return value.tensor ? &*value.tensor : nullptr;
  }
  // The proof is to be told: the tensor is this one.
  void assume(In tensor, In same_as) {
    assumptions.push_back({function, plain_text(tensor), plain_text(same_as), {}});
  }
  void assume(In tensor, std::string tensor_proto) {
    assumptions.push_back({function, plain_text(tensor), {}, std::move(tensor_proto)});
  }
  std::string plain_text(In in) const {  // numbered, in a body as well
    return in.argument() ? net.text(in) : tensor_text(net.name(in.node), in.index);
  }
  void give_reason(Number n, Reason reason) {
    if (reason_of_.size() <= n) {
      make_room(reason_of_, net.size());
      reason_of_.resize(net.size());
    }
    if (reasons_.empty() || !reasons_[last_].same_text(reason)) {
      const auto found = std::ranges::find(reasons_, reason);
      last_ = static_cast<size_t>(found - reasons_.begin());
      if (found == reasons_.end()) reasons_.push_back(reason);
    }
    reason_of_[n] = static_cast<uint32_t>(last_ + 1);
  }
  // Why the node went, a place in reasons(); nothing where there is none.
  std::optional<size_t> reason_of(Number n) const {
    const uint32_t reason = n < reason_of_.size() ? reason_of_[n] : 0;
    return reason == 0 ? std::nullopt : std::optional<size_t>(reason - 1);
  }
  const std::vector<Reason>& reasons() const { return reasons_; }

 private:
  struct Value {
    const char* def = nullptr;
    std::optional<folding::ConstTensor> tensor;
  };
  std::unordered_map<Number, Value> values_;
  std::vector<Reason> reasons_;      // few: by step and op
  std::vector<uint32_t> reason_of_;  // by node: place in reasons_ and one more
  size_t last_ = 0;                  // that was given
};

}  // namespace gedit::optimizing
