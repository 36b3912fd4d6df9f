#include "shape/write.h"

#include "graph/wiring.h"
#include "model/model.h"

namespace gedit {
namespace {

constexpr std::string_view kOutputShapes = "_output_shapes";

uint64_t write_into(Graph& graph, Registry& ops, const GraphShapes& shapes) {
  uint64_t changed = 0;
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const NodeId id{i};
    if (graph.removed(id)) continue;
    const std::string_view node_def = graph.bytes(id);
    const auto found = all_shapes(shapes, ops, id, node_def);
    if (!found || found->empty()) continue;
    const std::string value = shapes_value(*found);
    if (find_attr(node_def, kOutputShapes) == std::optional<std::string_view>(value)) continue;
    graph.replace(id, with_attr(node_def, kOutputShapes, value));
    ++changed;
  }
  return changed;
}

}  // namespace

std::string shapes_value(const std::vector<Shape>& shapes) {
  std::string list, value;
  for (const Shape& shape : shapes) append_bytes_field(list, attr_field::kShape, shape_proto(shape));
  append_bytes_field(value, attr_field::kList, list);
  return value;
}

std::optional<std::vector<Shape>> all_shapes(const GraphShapes& shapes, Registry& ops, NodeId id,
                                             std::string_view node_def) {
  const auto types = output_types(ops, node_def);
  if (!types || types->size() != shapes.outputs(id)) return std::nullopt;
  std::vector<Shape> found;
  for (uint32_t k = 0; k < types->size(); ++k) found.push_back(shapes.shape(id, k));
  return found;
}

uint64_t write_output_shapes(Graph& graph, Registry& ops, Inference& inference) {
  uint64_t changed = 0;
  if (const std::string_view bytes = graph.part(graph_field::kLibrary); !bytes.empty()) {
    Library library = Library::decode(bytes, graph.arena());
    for (Function& function : library.functions) {
      const GraphShapes* shapes = inference.function(function.name);
      if (shapes == nullptr) continue;
      function.body.decode();
      changed += write_into(function.body, ops, *shapes);
    }
    if (changed > 0) graph.set_part(graph_field::kLibrary, library.encode());
  }
  return changed + write_into(graph, ops, inference.main());
}

}  // namespace gedit
