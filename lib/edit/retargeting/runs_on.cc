// Which releases take a graph, as it is and after a retarget.
#include <vector>

#include "edit/retarget.h"
#include "graph/library.h"
#include "model/release_fit.h"

namespace gedit {
namespace {

// Nodes that some release does not take. Beyond that a retarget is not tried out to tell what it would do.
constexpr uint64_t kMostTried = 50000;

}  // namespace

RunsOn runs_on(const Model& model, size_t meta_graph, Registry& ops) {
  const MetaGraph& meta = model.meta_graphs[meta_graph];
  const std::string_view versions = meta.graph.part(graph_field::kVersions);
  const std::string_view library = meta.graph.part(graph_field::kLibrary);
  ReleaseFit fit(writers_of(meta), static_cast<int64_t>(last_varint(versions, 1)), library);
  const OpHistory& history = fit.history();
  Releases left = history.all();
  std::vector<std::string> excluded_by(history.releases().size());
  uint64_t restricted = 0;
  const auto look = [&](std::string_view node_def) {
    if (fit.quick(node_def) == history.all()) return;
    ++restricted;
    if ((fit.quick(node_def) & left) == left) return;
    const Releases lost = left & ~fit.of(node_def);
    for (ReleaseNumber i = 0; lost != 0 && i < excluded_by.size(); ++i) {
      if ((lost & release_bit(i)) != 0) excluded_by[i] = node_op(node_def);
    }
    left &= ~lost;
  };
  fit.set_stripped_ops(last_bytes(meta.part(meta_field::kInfo), 2));
  meta.graph.each_record(look);
  fit.clear_stripped_ops();
  each_body_node(library, [&](std::string_view, std::string_view node_def) { look(node_def); });
  const auto minimum = static_cast<int64_t>(last_varint(versions, 2));
  for (ReleaseNumber i = 0; i < excluded_by.size(); ++i) {
    if (minimum > history.releases()[i].producer) left &= ~release_bit(i);
  }

  RunsOn runs;
  ReleaseNumber first = history.latest();
  while (first > 0 && (left & release_bit(first)) == 0) --first;
  if ((left & release_bit(first)) != 0) {
    if (first != history.latest()) runs.to = history.releases()[first].short_name();
    while (first > 0 && (left & release_bit(first - 1)) != 0) --first;
    runs.from = history.releases()[first].short_name();
    if (first > 0) runs.because = excluded_by[first - 1];
  } else {
    first = history.latest() + 1;
  }
  if (restricted > kMostTried) return runs;
  // What a release takes, newer ones take: so the first is between.
  ReleaseNumber none = 0, some = first;  // some: after a retarget that release takes it, or the graph as it is
  while (none < some) {
    const ReleaseNumber middle = none + (some - none) / 2;
    Model copy = model;
    copy.selected = meta_graph;
    const RetargetRequest request{.release = std::string(history.releases()[middle].name)};
    if (retarget(copy, ops, request).obstacles.empty()) {
      some = middle;
    } else {
      none = middle + 1;
    }
  }
  if (some < first) runs.retargeted_from = history.releases()[some].short_name();
  return runs;
}

}  // namespace gedit
