// What tells two graphs, or two checkpoints, apart (docs/rules.md#diff).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "checkpoint/bundle.h"
#include "model/model.h"
#include "ops/registry.h"

namespace gedit {

// A node that only one side has; a view into its model. `place` is empty, or `FUNCTION//`.
struct LoneNode {
  std::string place;
  std::string_view node_def;
};

// A node or function that both have, and what differs: `input 1: a -> b`, `+ ^x`, `T: DT_FLOAT -> DT_HALF`.
struct Change {
  std::string name;
  std::vector<std::string> what;
  bool function = false;  // `name` is a function's, `what` is about what it holds besides nodes
};

// A scope that has another name and the same structure; with its slash, `/` is everything. Or a node or
// function that has another name and is otherwise the same.
struct RenamedScope {
  std::string from, to;
  uint64_t nodes;
  enum class Is : uint8_t { kScope, kNode, kFunction } is = Is::kScope;
};

// What lies around the nodes: a line of a listing that only one side has.
struct LoneLine {
  bool added;
  std::string line;
  std::string tensor{};  // of a checkpoint: its name, and what `line` says of it behind that
  std::string facts{};
};

struct DiffOptions {
  // Attributes that are not compared; `x*` is all that begin so. Without any, those that begin with `_` tell
  // no two nodes apart that are otherwise the same.
  std::vector<std::string> ignored{};
};

struct Diff {
  std::vector<RenamedScope> renamed;
  uint64_t nodes = 0;                    // of the first graph
  std::vector<LoneNode> removed, added;  // in the order of their files
  std::vector<Change> changed;           // in the order of the second file; functions last
  std::vector<LoneLine> other;

  bool empty() const {
    return renamed.empty() && removed.empty() && added.empty() && changed.empty() && other.empty();
  }
};

// What leads from the selected graph of `before` to that of `after`. Order of nodes, attributes and map
// entries, `a` for `a:0`, order and repetition of control inputs do not count; nor does an attribute at its
// default against none. Only what both kinds hold is compared. Where both are SavedModels with variables,
// their checkpoints are compared as well. About 100 ns for a node that has the same bytes. The models outlive
// the result.
Diff diff_models(Model& before, Model& after, Registry& ops_before, Registry& ops_after,
                 const DiffOptions& options = {});

// By dtype, shape and crc32c of each tensor; places do not count. Data files are opened only where the
// checkpoint stores no checksum (V1).
Diff diff_checkpoints(const Checkpoint& before, const Checkpoint& after);

// Lines `> scope/ -> scope/ (N nodes)`, `- ` and `+ ` with a listing line, `~ name: what; what`.
void print_diff(const Diff& diff, Sink& out);

// One line of counts: `+39 nodes (target/ 35, save/ 4), ~5 nodes (init, ...), collections variables +4`.
std::string diff_counts(const Diff& diff);

// {"added":[],"removed":[],"changed":[{"name","what":[]}],"renamed":[{"from","to","nodes"}],"other":[]}
void diff_json(const Diff& diff, Sink& out);

}  // namespace gedit
