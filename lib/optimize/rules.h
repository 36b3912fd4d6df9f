// The rules by which one node goes, or another stands in its place: each looks at a node whose inputs are as
// they will be, and says what is to be done.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/blank.h"
#include "optimize/subject.h"
#include "optimize/whens.h"

namespace gedit::optimizing {

// What is known of the values of output 0 of a node, by what it is computed from.
enum class Values : uint8_t {
  kUnknown,
  kZeros,  // +0, or false
  kNegativeZeros,
  kOnes,     // 1, or true
  kUniform,  // a multiple of 2^-(bits of the mantissa) from 0 to below 1
  kFromOne,  // 1 + such a one
  kShifted,  // such a one + something
  kMask,     // 0 or 1, by chance
};

// As far as the sweep has come.
struct View {
  Subject& subject;
  Net& net;
  const Flow& flow;
  Whens& whens;
  // Of output 0.
  struct Known {
    Values values = Values::kUnknown;
    bool scalar = false;  // it has no dimensions
    bool memory = false;  // any output may be the memory of a reference variable, which changes with it
    In like;              // a tensor that has its shape; itself where none is known
  };
  BlankVector<Known> known;     // by node
  bool any_references = false;  // in the graph

  Known of(In in) const {
    const bool there = !in.argument() && in.index == 0 && in.node < known.size();
    return there ? known[in.node] : Known{.like = in};
  }
  Values values_of(In in) const { return of(in).values; }
  In like_of(In in) const { return of(in).like; }
  // The Const whose value the tensor has, itself or given to all iterations of a loop; In::kArgument: none.
  Number const_of(In in) const;
  bool is_memory(In in) const { return !in.argument() && in.node < known.size() && known[in.node].memory; }
};
void look_at_values(View& view, Number n);

// Outputs and the tensors that stand for them; mostly one.
class Replacements {
 public:
  using Output = std::pair<uint32_t, In>;

  void emplace_back(uint32_t index, In in) {
    if (++count_ == 1) {
      first_ = {index, in};
      return;
    }
    if (count_ == 2) all_.push_back(first_);
    all_.emplace_back(index, in);
  }
  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  const Output* begin() const { return count_ > 1 ? all_.data() : &first_; }
  const Output* end() const { return begin() + count_; }
  const Output& front() const { return *begin(); }

 private:
  size_t count_ = 0;
  Output first_;
  std::vector<Output> all_;  // where there is more than one
};

struct Decision {
  Replacements outputs;
  bool vanishes = false;  // it has no outputs that count: who waits for it waits for what it reads
  std::string becomes;    // another node in its place, which reads `inputs`
  std::vector<In> inputs;
  Reason reason;
  bool assumed = false;           // the proof is to be told
  const char* changes = nullptr;  // what stands for it is not the same: `was bypassed`

  bool any() const { return !outputs.empty() || vanishes || !becomes.empty(); }
};
Decision replaced_by(In in, const char* section, std::string_view word, bool assumed = false);

Decision decide_branch(const View& view, Number n);   // Switch, Merge, loops, If, Case, Select
Decision decide_drop(const View& view, Number n);     // what only passes on, looks at, or groups
Decision decide_dropout(const View& view, Number n);  // multiplied by ones
// Multiplied by what chance keeps, and by what makes up for the rest: as it is when nothing is trained.
Decision decide_any_dropout(const View& view, Number n);
Decision decide_algebra(const View& view, Number n);
// A Const of what the node gives, which waits for what the node read.
Decision decide_fold(const View& view, Number n);

}  // namespace gedit::optimizing
