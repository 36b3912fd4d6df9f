#include "edit/basis/closure.h"

namespace gedit {

Closure::Closure(const Facts& facts, Follow follow)
    : facts_(facts),
      follow_(std::move(follow)),
      nodes_(facts.graph().size()),
      walked_(facts.graph().size()) {}

void Closure::want(NodeId id) {
  want_alone(id);
  want_inputs(id);
}

void Closure::want_alone(NodeId id) {
  if (nodes_.add(id)) found_.push_back(id);
}

void Closure::want_inputs(NodeId id) {
  if (walked_.add(id)) stack_.push_back(id);
  walk();
}

void Closure::walk() {
  const auto go = [&](NodeId id) {
    want_alone(id);
    if (walked_.add(id)) stack_.push_back(id);
  };
  while (!stack_.empty()) {
    const NodeId at = stack_.back();
    stack_.pop_back();
    if (!follow_) {
      for (const NodeId producer : facts_.producers().of(at)) go(producer);
      continue;
    }
    each_input(facts_.graph().bytes(at), [&](std::string_view text) {
      const std::optional<TensorRef> tensor = tensor_if_there(facts_.names(), text);
      if (!tensor) return;
      if (const std::optional<TensorRef> source = follow_(at, *tensor)) go(source->node);
    });
  }
}

}  // namespace gedit
