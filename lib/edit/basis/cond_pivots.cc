#include "edit/basis/cond_pivots.h"

#include "graph/frames.h"
#include "graph/wiring.h"
#include "ops/kinds.h"

namespace gedit {

std::string Pivots::control_on(std::string_view tensor) {
  const std::string_view node = parse_input_of(graph_, tensor).node;
  const NodeId id = names_.find(node);
  if (id == kNoNode || !graph_.is(id, OpKind::kSwitch)) return "^" + std::string(node);
  const auto [found, fresh] = pivots_.try_emplace(std::string(tensor));
  if (fresh) found->second = new_names_.free(std::string(node) + "/pivot");
  return "^" + found->second;
}

void Pivots::append() {
  for (const auto& [tensor, name] : pivots_) {
    const Input input = parse_input_of(graph_, tensor);
    const std::string_view node_def = graph_.bytes(names_.find(input.node));
    graph_.append(NodeBuilder(name, "Identity")
                      .input(tensor)
                      .device(node_head(node_def).device)
                      .type("T", type_attr(node_def, "T").value_or(DType::kInvalid))
                      .take());
  }
}

}  // namespace gedit
