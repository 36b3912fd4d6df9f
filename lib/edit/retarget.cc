#include "edit/retarget.h"

#include <cstring>

#include "edit/retargeting/around.h"
#include "edit/retargeting/graph_pass.h"
#include "graph/library.h"
#include "model/release_fit.h"

namespace gedit {
namespace {

ReleaseNumber retarget_release(std::string_view version) {
  const OpHistory& history = OpHistory::get();
  if (const auto release = history.find(version)) return *release;
  throw misused(version, "no TensorFlow release that is known")
      .hint("one of " + std::string(history.releases().front().short_name()) + " to " +
            std::string(history.releases().back().short_name()));
}

// Whether shape functions of the release may contradict what newer ones wrote.
bool is_older(ReleaseNumber release, Releases writers, const RetargetTally& tally) {
  if ((writers & release_bit(release)) != 0 || writers == 0) return tally.changed_nodes();
  return (writers & (release_bit(release) - 1)) == 0;
}

}  // namespace

RetargetResult retarget(Model& model, Registry& ops, const RetargetRequest& request) {
  const ReleaseNumber release = retarget_release(request.release);
  MetaGraph& meta = model.meta();
  const Release& target = OpHistory::get().releases()[release];
  const Releases writers = writers_of(meta);
  const std::string_view versions = meta.graph.part(graph_field::kVersions);
  const auto producer = static_cast<int64_t>(last_varint(versions, 1));
  const std::string_view library_bytes = meta.graph.part(graph_field::kLibrary);
  RetargetTally tally;
  if (const auto minimum = static_cast<int64_t>(last_varint(versions, 2)); minimum > target.producer) {
    tally.obstacles.push_back({"tf", "versions",
                               "min_consumer is " + std::to_string(minimum) + ", TensorFlow " +
                                   std::string(target.short_name()) + " is " + std::to_string(target.producer)});
  }
  ReleaseFit fit(writers, producer, library_bytes);
  GraphPass pass(fit, release, writers != 0, ops, tally);
  pass.want_changes = request.want_changes;
  const auto named = named_around(meta);
  pass.run(meta.graph, {}, &named);
  Library library = Library::decode(library_bytes, model.arena);
  for (Function& function : library.functions) pass.run(function.body, function.name, nullptr);
  if (is_older(release, writers, tally)) {
    tally.shapes = drop_all_output_shapes(meta.graph);
    for (Function& function : library.functions) tally.shapes += drop_all_output_shapes(function.body);
  }
  bool bodies_edited = false;
  for (const Function& function : library.functions) bodies_edited = bodies_edited || function.body.edited();
  if (bodies_edited) meta.graph.set_part(graph_field::kLibrary, library.encode());
  if ((writers & release_bit(release)) == 0 || tally.changed_nodes()) set_release(meta, release);
  RetargetResult result;
  describe_tally(tally, target, result.changes.notes, result.changes.warnings);
  result.changes.changed = std::move(tally.changed);
  result.obstacles = std::move(tally.obstacles);
  return result;
}

}  // namespace gedit
