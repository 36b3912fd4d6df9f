// Savers of a summary, with how many keys they restore.
#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "graph/function_names.h"
#include "graph/library.h"
#include "model/collections.h"
#include "model/saver_def.h"
#include "model/summary_parts.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr size_t kMostBodies = 10'000;  // functions looked into for savers, by all SaverDefs

std::string saved_key(const SavedTensor& tensor) {
  return tensor.slice.empty() ? tensor.key : tensor.key + " " + tensor.slice;
}

// Restore nodes in functions, as a TF2 SavedModel has them, function by function.
class RestoresInFunctions {
 public:
  explicit RestoresInFunctions(const SummarizedGraph& of)
      : library_(Library::decode(of.graph.part(graph_field::kLibrary), of.graph.arena())) {
    for (size_t i = 0; i < library_.functions.size(); ++i) by_name_.emplace(library_.functions[i].name, i);
  }

  // Adds the keys that a call restores, through what it calls in turn.
  void add(std::string_view node_def, std::set<std::string>& keys) {
    std::vector<size_t> open;
    std::unordered_set<size_t> seen;
    const auto take = [&](std::string_view caller) {
      each_function_named(caller, [&](std::string_view name) {
        const auto found = by_name_.find(name);
        if (found != by_name_.end() && seen.insert(found->second).second) open.push_back(found->second);
      });
    };
    take(node_def);
    while (!open.empty() && looked_at_++ < kMostBodies) {
      Graph& body = library_.functions[open.back()].body;
      open.pop_back();
      body.decode();
      for (const SaverNode& restore : find_savers(body, Names(body)).restores) {
        for (const SavedTensor& tensor : restore.tensors) keys.insert(saved_key(tensor));
      }
      body.each_record(take);
    }
  }

 private:
  Library library_;
  std::unordered_map<std::string_view, size_t> by_name_;
  size_t looked_at_ = 0;
};

// Which keys an operation restores.
class RestoredKeys {
 public:
  explicit RestoredKeys(const SummarizedGraph& of)
      : of_(of), functions_(of), reacher_(of.producers, of.graph.size()) {
    for (const SaverNode& restore : of.savers.restores) restores_.emplace(index_of(restore.node), &restore);
  }

  // Distinct keys of the restore nodes that the op runs.
  std::vector<std::string> of(const std::string& restore_op) {
    const NodeId op = of_.names.find(node_of(restore_op));
    if (op == kNoNode) return {};
    std::set<std::string> keys;
    for (const NodeId id : reacher_.from(op)) {
      const auto restore = restores_.find(index_of(id));
      if (restore == restores_.end()) continue;
      for (const SavedTensor& tensor : restore->second->tensors) keys.insert(saved_key(tensor));
    }
    // A merge runs several such calls by one NoOp.
    const auto take = [&](NodeId id) {
      if (!of_.graph.is(id, OpKind::kNoOp)) functions_.add(of_.graph.bytes(id), keys);
    };
    take(op);
    for (const NodeId source : of_.producers.of(op)) take(source);
    return {keys.begin(), keys.end()};
  }

 private:
  const SummarizedGraph& of_;
  RestoresInFunctions functions_;
  Reacher reacher_;
  std::unordered_map<uint32_t, const SaverNode*> restores_;  // by node
};

// A slot's key is made of the path to its optimizer as it was when the model was saved: a merge puts a prefix
// before the key, and before the path. What the savers restore tells.
void settle_slot_keys(GraphSummary& summary) {
  constexpr std::string_view kSlot = ".OPTIMIZER_SLOT/";
  std::unordered_set<std::string_view> keys;
  for (const SaverSummary& saver : summary.savers) keys.insert(saver.keys.begin(), saver.keys.end());
  for (VariableSummary& variable : summary.variables) {
    if (!variable.key || keys.empty() || keys.contains(*variable.key)) continue;
    const size_t slot = variable.key->find(kSlot);
    if (slot == std::string::npos) continue;
    const size_t begin = slot + kSlot.size();
    // A path has few parts; keys of hostile ones are not built again and again.
    constexpr size_t kLongest = 4096;
    for (size_t at = variable.key->find('/', begin);
         at != std::string::npos && variable.key->size() < kLongest; at = variable.key->find('/', at + 1)) {
      std::string shorter = variable.key->substr(0, begin) + variable.key->substr(at + 1);
      if (!keys.contains(shorter)) continue;
      variable.key = std::move(shorter);
      break;
    }
  }
}

}  // namespace

void summarize_savers(const SummarizedGraph& of, GraphSummary& summary) {
  std::set<std::string> known;
  RestoredKeys restored(of);
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
    saver.keys = restored.of(saver.restore_op);
    summary.savers.push_back(std::move(saver));
  }
  settle_slot_keys(summary);
  if (!summary.savers.empty()) return;
  for (const SaverNode& save : of.savers.saves) {
    SaverSummary saver;
    saver.save_tensor = of.graph.name(save.node);
    for (const SavedTensor& tensor : save.tensors) saver.keys.push_back(saved_key(tensor));
    std::sort(saver.keys.begin(), saver.keys.end());
    summary.savers.push_back(std::move(saver));
  }
}

}  // namespace gedit
