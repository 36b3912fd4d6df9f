// What whoever freezes a graph is to hear of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "edit/basis/changes.h"
#include "edit/basis/facts.h"
#include "edit/functions/late_reads.h"

namespace gedit {

// Nodes that wrote variables and are gone, by name.
void warn_of_writers(const std::vector<std::string>& writers, Changes& changes);

// Reads that give another value than in the original, for what they waited for wrote the variable.
void warn_of_late_reads(const std::vector<LateRead>& reads, Changes& changes);

// Variables that stay although nobody named them.
void note_kept_along(const Graph& graph, const std::vector<NodeId>& variables, Changes& changes);

// Those of them that stay since they hold paths of assets.
void note_asset_paths(const Graph& graph, const std::vector<NodeId>& variables, const NodeSet& stays,
                      Changes& changes);

// The outputs still read examples by themselves; where they can be cut from them.
void warn_of_input_pipelines(Facts& facts, const NodeSet& stays, Changes& changes);

// Tables of which a saver that goes has the contents. `kept`: variables that stay variables.
void warn_of_empty_tables(Facts& facts, const NodeSet& kept, const NodeSet& stays, Changes& changes);

// Tables that no init op fills and that are no output. `keeps`: whether that state stays.
void note_tables_that_nothing_fills(const Facts& facts, const NodeSet& stays,
                                    const std::vector<std::string>& outputs,
                                    const std::function<bool(NodeId)>& keeps, Changes& changes);

}  // namespace gedit
