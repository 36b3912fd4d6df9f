#include "edit/retargeting/around.h"

#include <map>

#include "base/error.h"
#include "base/message_edit.h"
#include "base/parallel.h"
#include "base/size.h"
#include "edit/around/map.h"
#include "graph/library.h"
#include "model/references.h"

namespace gedit {
namespace {

constexpr size_t kMostCounted = 12;                     // kinds that one note tells of
constexpr uint32_t kStrippedOps = 2, kVersionText = 5;  // MetaInfoDef

// `Cast.Truncate 12, Conv2D.explicit_paddings 53, ...`, and how many there are in all.
std::string listed(const RetargetTally::Counts& counts, uint64_t& sum) {
  std::string text;
  size_t shown = 0;
  sum = 0;
  for (const auto& [what, count] : counts) {
    sum += count;
    if (++shown > kMostCounted) continue;
    text += text.empty() ? "" : ", ";
    text += what;
    text += " " + std::to_string(count);
  }
  if (shown > kMostCounted) text += ", ...";
  return text;
}

}  // namespace

std::map<std::string, RetargetTally::Counts> RetargetTally::by_kind() const {
  std::map<std::string, Counts> kinds{{"dropped", dropped},
                                      {"hints", hints},
                                      {"replaced", replaced},
                                      {"removed", removed},
                                      {"written", written},
                                      {"defaults", {{"in functions", filled}}},
                                      {"contrib", contrib},
                                      {"unknown", unknown},
                                      {"cast", {{"int64 to int32", casts}}},
                                      {"shapes", {{"_output_shapes", shapes}}},
                                      {"inlined",
                                       {{"calls", inlined.calls},
                                        {"conds", inlined.conds},
                                        {"loops", inlined.loops},
                                        {"functions", inlined.functions}}}};
  for (auto& [kind, counts] : kinds) std::erase_if(counts, [](const auto& one) { return one.second == 0; });
  std::erase_if(kinds, [](const auto& kind) { return kind.second.empty(); });
  return kinds;
}

std::set<std::string, std::less<>> named_around(const MetaGraph& meta) {
  std::set<std::string, std::less<>> names;
  each_name_around(meta, [&](const SchemaField& field, std::string_view name, int) {
    if (field.kind == NameKind::kNode) names.emplace(name.starts_with('^') ? name.substr(1) : name);
  });
  return names;
}

void set_release(MetaGraph& meta, ReleaseNumber release) {
  OpHistory& history = OpHistory::get();
  const Release& target = history.releases()[release];
  const std::string_view versions = meta.graph.part(graph_field::kVersions);
  if (static_cast<int64_t>(last_varint(versions, 1)) > target.producer) {
    std::string lowered;
    append_varint_field(lowered, 1, static_cast<uint64_t>(target.producer));
    lowered += without_field(versions, 1);
    meta.graph.set_part(graph_field::kVersions, std::move(lowered));
  }
  const std::string_view info = meta.part(meta_field::kInfo);
  if (info.empty()) return;
  std::string changed(info);
  const auto written = history.find(last_bytes(info, kVersionText));
  if (written && *written != release) changed = with_field(changed, kVersionText, target.name);
  if (!has_field(info, kStrippedOps)) {
    meta.set_part(meta_field::kInfo, std::move(changed));
    return;
  }
  std::map<std::string_view, std::string_view> ops;  // of what is there now
  const std::string_view library = meta.graph.part(graph_field::kLibrary);
  for (const auto& [op, count] : meta.graph.op_counts()) ops.try_emplace(op);
  each_body_node(library, *meta.graph.arena(),
                 [&](std::string_view, std::string_view node_def) { ops.try_emplace(node_op(node_def)); });
  std::map<std::string_view, std::string_view> before;
  for (Fields list(last_bytes(info, kStrippedOps)); list.next();) {
    if (list->bytes(1)) before.insert_or_assign(last_bytes(list->value, 1), list->value);
  }
  std::string list;
  for (const auto& [op, nothing] : ops) {
    const OpEra* era = history.era(op, release);
    const auto known = before.find(op);
    if (era != nullptr) {
      append_bytes_field(list, 1, era->op_def);
    } else if (known != before.end()) {
      append_bytes_field(list, 1, known->second);
    }
  }
  meta.set_part(meta_field::kInfo, with_field(changed, kStrippedOps, list));
}

void describe_tally(const RetargetTally& tally, const Release& release, std::vector<std::string>& notes,
                    std::vector<std::string>& warnings) {
  uint64_t sum = 0;
  const InlineResult& inlined = tally.inlined;
  std::string gone;
  for (const auto& [count, one] : {std::pair(inlined.calls, "call"), std::pair(inlined.conds, "cond"),
                                   std::pair(inlined.loops, "loop")}) {
    if (count > 0) gone.append(gone.empty() ? "" : ", ").append(counted(count, one));
  }
  if (!gone.empty()) {
    gone.append(" inlined");
    if (inlined.functions > 0)
      gone.append(", ").append(counted(inlined.functions, "function")).append(" dropped");
    notes.push_back(std::move(gone));
  }
  for (const auto& [node, why] : inlined.kept) notes.push_back(quoted("call", node) + " stays: " + why);
  if (const std::string text = listed(tally.dropped, sum); sum > 0)
    notes.push_back(counted(sum, "attribute") + (sum == 1 ? " at its" : " at their") +
                    " default dropped: " + text);
  if (const std::string text = listed(tally.hints, sum); sum > 0)
    notes.push_back(counted(sum, "hint") + " dropped, on which no value rests: " + text);
  if (const std::string text = listed(tally.replaced, sum); sum > 0)
    notes.push_back(counted(sum, "node") + " replaced: " + text);
  if (const std::string text = listed(tally.removed, sum); sum > 0)
    notes.push_back(counted(sum, "node") + " dropped: " + text);
  if (const std::string text = listed(tally.written, sum); sum > 0)
    notes.push_back(counted(sum, "attribute") + " written, whose default is another there: " + text);
  if (tally.filled > 0)
    notes.push_back(counted(tally.filled, "default") + " written in functions, where it has to be there");
  if (tally.shapes > 0) notes.push_back("_output_shapes of " + counted(tally.shapes, "node") + " dropped");
  for (const std::string& note : tally.notes) notes.push_back(note);
  if (const std::string text = listed(tally.contrib, sum); sum > 0)
    notes.push_back("load the library of tf.contrib first that has " + text + " (import tensorflow.contrib)");
  if (const std::string text = listed(tally.unknown, sum); sum > 0)
    notes.push_back("ops that no release knows stay as they are: " + text);
  if (tally.arrays > 0) {
    warnings.push_back(counted(tally.arrays, "TensorArray") +
                       " of elements whose shape is not known, first '" + printable(tally.first_array) +
                       "': reading an element that was not written fails in TensorFlow " +
                       std::string(release.short_name()));
  }
  if (tally.casts > 0) {
    warnings.push_back(std::to_string(tally.casts) + (tally.casts == 1 ? " int64 index" : " int64 indices") +
                       " cast to int32, which is all that TensorFlow " + std::string(release.short_name()) +
                       " takes there: values over 2^31 are cut");
  }
}

}  // namespace gedit
