#include "edit/around/devices.h"

#include <atomic>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/error.h"
#include "base/message_edit.h"
#include "base/parallel.h"
#include "base/size.h"
#include "edit/basis/addresses.h"
#include "graph/library.h"
#include "graph/node.h"

namespace gedit {
namespace {

bool of_job(std::string_view device) {
  return device.find("/job:") != std::string_view::npos &&
         device.find("/job:localhost") == std::string_view::npos;
}

// Before mappings.
bool any_of_job(const Graph& graph) {
  if (!graph.decoded()) {
    bool any = false;
    graph.each_record([&](std::string_view node_def) { any = any || of_job(node_device(node_def)); });
    return any;
  }
  std::atomic<bool> any{false};
  in_pieces(graph.any_on_device() ? graph.size() : 0, [&](size_t, PieceRange nodes) {
    for (uint32_t i = nodes.begin; i < nodes.end && !any; ++i) {
      if (!graph.removed(NodeId{i}) && of_job(graph.device(NodeId{i}))) any = true;
    }
  });
  return any;
}

bool clear(Graph& graph, std::string_view function, Changes& changes) {
  bool edited = false;
  graph.decode();
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const NodeId id{i};
    if (graph.removed(id)) continue;
    const std::string_view node_def = graph.bytes(id), device = node_device(node_def);
    if (device.empty()) continue;
    changes.changed.emplace_back(address(function, node_name(node_def)),
                                 "device '" + printable(device) + "' -> ''");
    graph.replace(id, without_field(node_def, node_field::kDevice));
    edited = true;
  }
  return edited;
}

}  // namespace

Changes clear_devices(Model& model) {
  Changes changes;
  Graph& graph = model.graph();
  clear(graph, "", changes);
  Library library = Library::decode(graph.part(graph_field::kLibrary), model.arena);
  bool edited = false;
  for (Function& function : library.functions)
    edited = clear(function.body, function.name, changes) || edited;
  if (edited) graph.set_part(graph_field::kLibrary, library.encode());
  return changes;
}

void add_cleared(const Model& model, const Changes& cleared, Changes& changes) {
  std::unordered_set<std::string> left;
  model.graph().each_node([&](std::string_view node_def) { left.emplace(node_name(node_def)); });
  each_body_node(model.graph().part(graph_field::kLibrary), *model.arena,
                 [&](std::string_view function, std::string_view node_def) {
                   left.insert(address(function, node_name(node_def)));
                 });
  for (const auto& change : cleared.changed) {
    if (left.contains(change.first)) changes.changed.push_back(change);
  }
}

void note_jobs(const Model& model, Changes& changes) {
  const Graph& graph = model.graph();
  const bool any = any_of_job(graph);
  uint64_t count = 0;
  std::string first;
  const auto look = [&](std::string_view function, std::string_view node_def) {
    const std::string_view device = node_device(node_def);
    if (!of_job(device) || count++ > 0) return;
    first = "'" + printable(address(function, node_name(node_def))) + "' on '" + printable(device) + "'";
  };
  if (any) graph.each_node([&](std::string_view node_def) { look("", node_def); });
  each_body_node(graph.part(graph_field::kLibrary), *graph.arena(), look);
  if (count == 0) return;
  changes.notes.push_back(counted(count, "node") + (count == 1 ? " is" : " are") +
                          " on a device of a job, which only its cluster has: first " + first +
                          "; hint: --clear-devices");
}

}  // namespace gedit
