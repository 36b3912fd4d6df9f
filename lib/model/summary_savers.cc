// Savers of a summary, with how many keys they restore.
#include <set>
#include <unordered_set>

#include "model/collections.h"
#include "model/saver_def.h"
#include "model/summary_parts.h"

namespace gedit {
namespace {

// Distinct keys of the restore nodes that the op runs.
size_t keys_below(const SummarizedGraph& of, const std::string& restore_op) {
  const NodeId op = of.names.find(node_of(restore_op));
  if (op == kNoNode) return 0;
  NodeSet from(of.graph.size());
  from.add(op);
  const NodeSet below = reach(from, of.producers, kAnyDistance);
  std::unordered_set<std::string> keys;
  for (const SaverNode& restore : of.savers.restores) {
    if (!below.has(restore.node)) continue;
    for (const SavedTensor& tensor : restore.tensors) keys.insert(tensor.key + '\0' + tensor.slice);
  }
  return keys.size();
}

}  // namespace

void summarize_savers(const SummarizedGraph& of, GraphSummary& summary) {
  std::set<std::string> known;
  for (const std::string_view bytes : saver_defs(of.meta)) {
    const SaverDef def = parse_saver_def(bytes);
    static constexpr const char* kVersions[] = {"legacy", "V1", "V2"};
    SaverSummary saver;
    saver.filename_tensor = def.filename;
    saver.save_tensor = def.save;
    saver.restore_op = def.restore;
    saver.sharded = def.sharded;
    saver.version = def.version < 3 ? kVersions[def.version] : std::to_string(def.version);
    if (!known.insert(saver.restore_op).second) continue;
    saver.keys = keys_below(of, saver.restore_op);
    summary.savers.push_back(std::move(saver));
  }
  if (!summary.savers.empty()) return;
  for (const SaverNode& save : of.savers.saves) {
    SaverSummary saver;
    saver.save_tensor = of.graph.name(save.node);
    saver.keys = save.tensors.size();
    summary.savers.push_back(std::move(saver));
  }
}

}  // namespace gedit
