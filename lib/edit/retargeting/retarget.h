// gedit retarget: a graph for another TensorFlow release (docs/rules.md#retarget).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/fault.h"
#include "edit/basis/changes.h"
#include "model/model.h"
#include "ops/registry.h"

namespace gedit {

struct RetargetRequest {
  std::string release;   // `1.12`
  bool inlined = false;  // calls of functions give way to what they call, even where the release has them
  bool want_changes = false;
  // Whether there are obstacles: ends with the first, and the model is of no use then.
  bool only_to_see = false;
};

struct RetargetResult {
  Changes changes;
  // What was done, by kind and what it was done to: `dropped`, `Cast.Truncate`, 12.
  std::map<std::string, std::map<std::string, uint64_t>> counts;
  std::vector<Fault> obstacles;  // what could not be done: the nodes are as they were, or as far as it went
};

// Edits the selected MetaGraph. A model that the release wrote stays as it is, to the byte. Throws Error
// (kUsage) where there is no such release.
RetargetResult retarget(Model& model, Registry& ops, const RetargetRequest& request);

// Which releases take a graph, which is decoded, by their short names; for what describes it, nothing is
// edited.
struct RunsOn {
  std::string from, to;  // all between take it as it is; `to` empty: up to the newest; `from` empty: none
  std::string because;   // the op that none before `from` takes; empty: there is none before
  std::string retargeted_from;  // from there on after a retarget; empty: no sooner
};
RunsOn runs_on(const Model& model, size_t meta_graph, Registry& ops);

}  // namespace gedit
