#include "edit/retargeting/repeats.h"

#include <utility>

#include "base/map_entry.h"
#include "base/text_search.h"
#include "graph/node.h"

namespace gedit {
namespace {

constexpr std::string_view kOutputShapes = "_output_shapes";

}  // namespace

bool has_output_shapes(std::string_view node_def) {
  constexpr size_t kLong = 1024;  // as weights are, whose attributes are sooner asked than searched
  static const TextSearch shapes{std::string(kOutputShapes)};
  return (node_def.size() > kLong || shapes.finds_in(node_def)) && find_attr(node_def, kOutputShapes);
}

std::string without_output_shapes(std::string_view node_def) { return without_attr(node_def, kOutputShapes); }

AlikeNodes::Shapes shapes_in(std::string_view node_def) {
  AlikeNodes::Shapes found;
  if (!has_output_shapes(node_def)) return found;
  for (Fields fields(node_def); fields.next();) {
    if (!fields->bytes(node_field::kAttr) || map_entry(fields->value).key != kOutputShapes) continue;
    found.several = found.size > 0;
    found.size = static_cast<uint32_t>(fields->raw.size());
    found.to_end = static_cast<uint32_t>(node_def.end() - fields->raw.data());
  }
  return found;
}

const AlikeNodes* Repeats::changed(NodeId id) const {
  const size_t piece = index_of(id) / kPerPiece;
  if (piece >= pieces.size()) return nullptr;
  const uint32_t group = pieces[piece].at(index_of(id) % kPerPiece);
  if (group == Piece::kNone) return nullptr;
  const AlikeNodes& nodes = pieces[piece].groups[group];
  return nodes.changes() || (unshaped_ && nodes.shapes.size > 0) ? &nodes : nullptr;
}

NodeParts Repeats::rewritten(NodeId id, std::string_view node_def) const {
  const AlikeNodes* nodes = changed(id);
  if (nodes == nullptr) return {};
  if (!nodes->changes()) {
    const auto [to_end, size, several] = nodes->shapes;
    return {node_def.substr(0, node_def.size() - to_end), node_def.substr(node_def.size() - to_end + size)};
  }
  const std::string_view front = node_def.substr(0, node_def.size() - nodes->attrs);
  const Became& became = *nodes->became;
  if (became.op.empty()) return {front, became.attrs};
  for (Fields fields(front); fields.next();) {
    if (fields->bytes(node_field::kOp))
      return {
          {{front.begin(), fields->raw.begin()}, became.op, {fields->raw.end(), front.end()}, became.attrs}};
  }
  return {front, became.attrs};
}

void Repeats::count() const {
  for (const Piece& piece : pieces) {
    for (const AlikeNodes& group : piece.groups) {
      if (group.times == 0) continue;
      for (uint64_t* count : group.became->counts) *count += group.times;
    }
  }
}

uint64_t Repeats::drop_output_shapes(Graph& graph) {
  unshaped_ = true;
  uint64_t count = 0;
  const auto drop = [&](NodeId id) {
    if (graph.removed(id) || !has_output_shapes(graph.bytes(id))) return;
    graph.replace(id, without_output_shapes(graph.bytes(id)));
    ++count;
  };
  for (size_t number = 0; number < pieces.size(); ++number) {
    Piece& piece = pieces[number];
    const auto [begin, end] = piece_range(number, graph.size());
    for (uint32_t i = begin; i < end && !piece.empty(); ++i) {
      const uint32_t at = piece.at(i - begin);
      if (at == Piece::kNone || piece.groups[at].changes() || piece.groups[at].shapes.size == 0) continue;
      if (piece.groups[at].shapes.several) {
        drop(NodeId{i});
        piece.put(i - begin, Piece::kNone);
      } else {
        ++count;
      }
    }
  }
  for (const NodeId id : alone) drop(id);
  return count;
}

void Repeats::apply(std::shared_ptr<const Repeats> repeats, Graph& graph) {
  bool any = false;
  for (size_t number = 0; number < repeats->pieces.size(); ++number) {
    const Piece& piece = repeats->pieces[number];
    const auto [begin, end] = piece_range(number, graph.size());
    for (uint32_t i = begin; i < end && !piece.empty(); ++i) {
      const AlikeNodes* nodes = repeats->changed(NodeId{i});
      if (nodes == nullptr || graph.removed(NodeId{i})) continue;
      any = true;
      if (nodes->changes()) graph.written_as(NodeId{i}, graph.op_number(nodes->looked_at));
    }
  }
  if (any) graph.map_all(std::move(repeats));
}

}  // namespace gedit
