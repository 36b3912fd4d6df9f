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
  kZeros,    // +0, or false
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

  bool knows(In in) const { return !in.argument() && in.index == 0 && in.node < known.size(); }
  Values values_of(In in) const { return knows(in) ? known[in.node].values : Values::kUnknown; }
  In like_of(In in) const { return knows(in) ? known[in.node].like : in; }
  // The Const whose value the tensor has, itself or given to all iterations of a loop; In::kArgument: none.
  Number const_of(In in) const;
  bool is_memory(In in) const { return !in.argument() && in.node < known.size() && known[in.node].memory; }
};
void look_at_values(View& view, Number n);

struct Decision {
  // Outputs and the tensors that stand for them.
  std::vector<std::pair<uint32_t, In>> outputs;
  bool vanishes = false;  // it has no outputs that count: who waits for it waits for what it reads
  std::string becomes;    // another node in its place, which reads `inputs`
  std::vector<In> inputs;
  Reason reason;
  bool assumed = false;           // the proof is to be told
  const char* changes = nullptr;  // what stands for it is not the same: `was bypassed`

  bool any() const { return !outputs.empty() || vanishes || !becomes.empty(); }
};
Decision replaced_by(In in, const char* section, std::string_view word, bool assumed = false);

Decision decide_branch(const View& view, Number n);   // Switch, Merge, Exit, If, Case
Decision decide_drop(const View& view, Number n);     // what only passes on, looks at, or groups
Decision decide_dropout(const View& view, Number n);  // multiplied by ones
// Multiplied by what chance keeps, and by what makes up for the rest: as it is when nothing is trained.
Decision decide_any_dropout(const View& view, Number n);
Decision decide_algebra(const View& view, Number n);
// A Const of what the node gives, which waits for what the node read.
Decision decide_fold(const View& view, Number n);

}  // namespace gedit::optimizing
