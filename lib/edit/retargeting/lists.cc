// Tensor lists before 1.13: what they are made with tells the shape of their elements, nothing that is put
// in.
#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_set>

#include "base/error.h"
#include "edit/retargeting/limits.h"
#include "graph/wiring.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// Ops that make a list, with the input that says of which elements, and those that give theirs on.
struct ListRow {
  std::string_view op;
  bool makes;
  size_t slot;
};
constexpr ListRow kLists[] = {
    {"EmptyTensorList", true, 0},     {"TensorListReserve", true, 0},  {"TensorListFromTensor", true, 1},
    {"TensorListPushBack", false, 0}, {"TensorListSetItem", false, 0}, {"TensorListResize", false, 0},
};

bool states_sizes(const Site& site, size_t slot) {
  const auto sizes = site.constant(slot);
  const Shape shape = sizes ? site.shape(slot).shape : Shape();
  return shape && shape->size() == 1 && std::ranges::all_of(*sizes, [](double size) { return size >= 0; });
}

// What a TensorListFromTensor that states no sizes gets: limit_list_shape() sees to it. Nothing where they
// are not known.
std::optional<std::vector<int64_t>> sizes_of_elements(const Site& site) {
  const Shape shape = site.inputs.size() == 2 ? site.shape(0).shape : Shape();
  if (!shape || shape->empty()) return std::nullopt;
  std::vector<int64_t> sizes(shape->begin() + 1, shape->end());
  const bool known = std::ranges::all_of(sizes, [](int64_t size) { return size >= 0; });
  return known ? std::optional(std::move(sizes)) : std::nullopt;
}

// The inputs from which a node that makes no list itself has the list in `output`; none where that is not
// known.
std::vector<std::string> lists_taken(const Site& site, std::string_view input) {
  const Input parts = parse_input_of(site.in.graph(), input);
  const auto* row = std::ranges::find(kLists, site.op, &ListRow::op);
  const OpKinds kinds = kinds_of(site.op);
  std::optional<uint32_t> slot;
  if (row != std::end(kLists)) slot = row->slot;
  if (kinds.has_any(OpKind::kIdentity | OpKind::kEnter | OpKind::kExit | OpKind::kNextIteration) ||
      kinds.has(OpKind::kSwitch))
    slot = 0;
  if (kinds.has(OpKind::kWhile)) {
    slot = parts.index();
    if (site.in.graph().is_body()) slot = body_output_index(site.in.ops(), site.node_def, parts.port);
  }
  if (kinds.has(OpKind::kMerge)) return site.inputs;
  return slot && *slot < site.inputs.size() ? std::vector{site.inputs[*slot]} : std::vector<std::string>();
}

}  // namespace

std::string limit_list_made(Site& site) { return site.all(1, 0) ? "" : "it is to have some"; }

std::string limit_list_rank(Site& site) {
  const Shape shape = site.inputs.size() == 2 ? site.shape(1).shape : Shape();
  return shape && shape->empty() ? "that here is of none" : "";
}

std::string limit_list_shape(Site& site) {
  const std::optional<std::vector<int64_t>> sizes = sizes_of_elements(site);
  if (!sizes || states_sizes(site, 1)) return {};
  const std::string stated = site.add_const("element_shape", DType::kInt32,
                                            int_matrix_proto(*sizes, {static_cast<int64_t>(sizes->size())}));
  site.take_inputs({site.inputs[0], stated}, {}, {{"shape_type", type_value(DType::kInt32)}});
  return {};
}

std::string limit_list_stack(Site& site) {
  std::vector<std::string> left{site.inputs.empty() ? std::string() : site.inputs[0]};
  std::unordered_set<std::string> seen;
  while (!left.empty()) {
    const std::string input = std::move(left.back());
    left.pop_back();
    if (!seen.insert(input).second) continue;
    const NodeId id = site.in.producer(input);
    if (id == kNoNode) return "the list is an argument of the function";
    const Site node(site.in, std::string(site.in.graph().bytes(id)));
    const auto* row = std::ranges::find(kLists, node.op, &ListRow::op);
    if (row != std::end(kLists) && row->makes) {
      const bool known = states_sizes(node, row->slot) || (row->slot == 1 && sizes_of_elements(node));
      if (!known) return "that of " + quoted("node", node.name) + " has none";
      continue;
    }
    std::vector<std::string> taken = lists_taken(node, input);
    if (taken.empty()) return "the list comes from " + quoted("node", node.name);
    std::ranges::move(taken, std::back_inserter(left));
  }
  return {};
}

}  // namespace gedit
