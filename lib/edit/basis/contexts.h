// The contexts of conds and loops that collections describe: what has to come along so that each stays whole
// (docs/tensorflow.md#conds, docs/rules.md#copy-loops-and-conds).
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "edit/basis/facts.h"

namespace gedit {

// To be asked while a set of nodes grows.
class Contexts {
 public:
  // Makes nothing where no collection describes a context.
  explicit Contexts(const Facts& facts);

  bool none() const { return contexts_.empty(); }

  // `node` is in the set now: calls `want` with the predicates, pivots and Exits of the contexts that it is
  // a value of, and of those nested in them, but for the counters and loops that tf.gradients added. Of each
  // context once.
  void add(NodeId node, const std::function<void(NodeId)>& want);

  // Exits that a context names, each with the Switch that it leaves by. One that nothing reads is in no
  // closure, yet a loop variable without it is not the loop's: TensorFlow gives no gradient to it.
  struct Exit {
    NodeId exit, by;
  };
  const std::vector<Exit>& exits() const { return exits_; }

 private:
  struct Context {
    std::vector<NodeId> values;  // nodes in it
    std::vector<NodeId> whole;   // its predicate and pivots, and those of nested ones
    bool done = false;
  };

  std::vector<NodeId> read(std::string_view def, bool cond, int depth);
  void add_pivots(Context& context) const;

  const Facts& facts_;
  std::vector<Context> contexts_;
  std::unordered_map<uint32_t, std::vector<size_t>> contexts_of_;  // by value
  std::vector<Exit> exits_;
};

// The Switch that an Exit leaves by, maybe through Identities; kNoNode where it is none.
NodeId switch_of_exit(const Facts& facts, NodeId exit);

}  // namespace gedit
