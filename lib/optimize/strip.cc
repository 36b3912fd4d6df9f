#include "optimize/strip.h"

#include <algorithm>
#include <array>
#include <span>

#include "graph/library.h"
#include "graph/op_defs.h"
#include "graph/types.h"

namespace gedit::optimizing {
namespace {

constexpr uint32_t kDebugInfoOfNode = 6, kDebugInfoOfGraph = 5;  // NodeDef, GraphDef
constexpr auto kShapeAttrs = std::to_array<std::string_view>({"_input_shapes", "_output_shapes"});
constexpr auto kGradientAttrs =
    std::to_array<std::string_view>({"_gradient_op_type", "backward_function_name", "forward_function_name"});

bool is_one_of(std::span<const std::string_view> all, std::string_view key) {
  return std::ranges::find(all, key) != all.end();
}

class Stripper {
 public:
  Stripper(Registry& ops, const Strip& what, Counts& counts) : ops_(ops), what_(what), counts_(counts) {}

  void nodes(Graph& graph) {
    for (uint32_t i = 0; i < graph.size(); ++i) {
      const NodeId id{i};
      if (graph.removed(id)) continue;
      std::string left = node(graph.bytes(id));
      if (!left.empty()) graph.replace(id, left);
    }
  }

  // What surrounds a body: attributes of the function, and of its arguments.
  void function(Graph& body) {
    std::vector<std::string> kept;
    bool any = false;
    for (const Part& part : body.parts()) {
      if (part.field != function_field::kAttr) continue;
      const std::string_view entry = record_at(part.raw.data()).node_def;
      const bool goes = goes_by_key(map_key(entry));
      any = any || goes;
      if (!goes) kept.emplace_back(entry);
    }
    if (any) body.set_parts(function_field::kAttr, std::move(kept));
  }

  void count(const char* word) { ++counts_["strip"][word]; }

 private:
  bool goes_by_key(std::string_view key) {
    if (what_.shapes && is_one_of(kShapeAttrs, key)) {
      count("shapes");
    } else if (what_.functions && is_one_of(kGradientAttrs, key)) {
      count("functions");
    } else {
      return false;
    }
    return true;
  }

  bool goes(std::string_view op, std::string_view key, std::string_view value) {
    if (what_.classes && key == "_class") {
      count("class");
      return true;
    }
    if (goes_by_key(key)) return true;
    if (!what_.defaults || key.starts_with('_')) return false;
    const OpDef* def = ops_.find(op);
    const AttrDef* attr = def == nullptr ? nullptr : def->find_attr(key);
    if (attr == nullptr || !attr->has_default || attr->default_value != value) return false;
    count("defaults");
    return true;
  }

  // Without what goes; empty where nothing does.
  std::string node(std::string_view node_def) {
    std::string left;
    bool any = false;
    const std::string_view op = node_op(node_def);
    for (Fields fields(node_def); fields.next();) {
      bool gone = false;
      if (fields->bytes(node_field::kDevice)) {
        gone = what_.device && !fields->value.empty();
        if (gone) count("device");
      } else if (fields->bytes(kDebugInfoOfNode)) {
        gone = what_.debug;
        if (gone) count("debug");
      } else if (fields->bytes(node_field::kAttr)) {
        const MapEntry entry = map_entry(fields->value);
        gone = goes(op, entry.key, entry.value);
      }
      any = any || gone;
      if (!gone) left += fields->raw;
    }
    return any ? left : std::string();
  }

  OpDefs ops_;
  const Strip& what_;
  Counts& counts_;
};

}  // namespace

void strip(Model& model, Registry& ops, const Strip& what, Counts& counts) {
  if (!what.any()) return;
  Graph& graph = model.graph();
  Stripper stripper(ops, what, counts);
  stripper.nodes(graph);
  if (what.debug && !graph.part(kDebugInfoOfGraph).empty()) {
    graph.set_parts(kDebugInfoOfGraph, {});
    stripper.count("debug");
  }
  const std::string_view bytes = graph.part(graph_field::kLibrary);
  if (bytes.empty()) return;
  Library library = Library::decode(bytes, model.arena);
  bool changed = false;
  for (Function& function : library.functions) {
    function.body.decode();
    stripper.nodes(function.body);
    stripper.function(function.body);
    changed = changed || function.body.edited();
  }
  if (changed) graph.set_part(graph_field::kLibrary, library.encode());
}

}  // namespace gedit::optimizing
