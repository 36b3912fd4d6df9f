#include "check/release.h"

#include "graph/library.h"
#include "model/release_fit.h"
#include "ops/kinds.h"
#include "shape/input_ranks.h"

namespace gedit {
namespace {

constexpr std::string_view kRule = "tf";

// What `gedit retarget` does about a call that the release has no op for.
bool gives_way(std::string_view op) {
  return kinds_of(op).has_any(OpKinds(OpKind::kLocalCall) | OpKind::kIf | OpKind::kCase | OpKind::kWhile);
}

}  // namespace

ReleaseNumber find_release(std::string_view version) {
  const OpHistory& history = OpHistory::get();
  if (const auto release = history.find(version)) return *release;
  throw misused(version, "no TensorFlow release that is known")
      .hint("one of " + std::string(history.releases().front().short_name()) + " to " +
            std::string(history.releases().back().short_name()));
}

std::vector<Fault> release_faults(const MetaGraph& meta, Registry& ops, ReleaseNumber release) {
  const std::string_view versions = meta.graph.part(graph_field::kVersions);
  const std::string_view library = meta.graph.part(graph_field::kLibrary);
  ReleaseFit fit(writers_of(meta), static_cast<int64_t>(last_varint(versions, 1)), library);
  std::vector<Fault> faults;
  const Release& target = fit.history().releases()[release];
  const auto minimum = static_cast<int64_t>(last_varint(versions, 2));
  if (minimum > target.producer) {
    faults.push_back({std::string(kRule), "versions",
                      "min_consumer is " + std::to_string(minimum) + ", TensorFlow " +
                          std::string(target.short_name()) + " is " + std::to_string(target.producer)});
  }
  InputRanks ranks(meta.graph, ops);
  std::string_view function_now;
  fit.set_ranks([&](std::string_view node_def) { return ranks.first(function_now, node_name(node_def)); });
  const auto look = [&](std::string_view function, std::string_view node_def) {
    function_now = function;
    if (fit.plain(node_def, release)) return;
    for (Obstacle& obstacle : fit.obstacles(node_def, release)) {
      std::string subject = function.empty() ? std::string() : std::string(function) + "//";
      subject += node_name(node_def);
      const Level level = obstacle.is == Obstacle::Is::kContrib ? Level::kWarning : Level::kError;
      if (obstacle.is == Obstacle::Is::kOp && gives_way(node_op(node_def)))
        obstacle.message += "; hint: gedit retarget --inline";
      faults.push_back({std::string(kRule), std::move(subject), std::move(obstacle.message), level});
    }
  };
  fit.set_stripped_ops(last_bytes(meta.part(meta_field::kInfo), 2));
  meta.graph.each_record([&](std::string_view node_def) { look({}, node_def); });
  fit.clear_stripped_ops();
  each_body_node(library, *meta.graph.arena(), look);
  return faults;
}

}  // namespace gedit
