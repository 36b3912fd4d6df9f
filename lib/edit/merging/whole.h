// The merged model as a whole: what it is made from, and what is told of it.
#pragma once

#include <string>
#include <vector>

#include "edit/merging/around.h"
#include "edit/merging/inputs.h"
#include "edit/merging/operand.h"

namespace gedit {

// The operand of the richest kind, the first of several: SavedModel (with a folder, without), MetaGraphDef,
// GraphDef.
size_t richest(const std::vector<MergeOperand>& operands);

// Throws Error (kRefused) where object graphs, which are joined under a new root by the names of their
// operands, come from operands without a name.
void check_roots(const OperandFiles& files);

// Makes `model` the richest operand's file, without its graph.
void start_merged(Model& model, const MergeParts& parts, size_t richest);

// For --dry-run: what is there that the first operand had not, and the other way round. `added` are nodes
// that no operand has.
void list_changes(const MergeParts& parts, const InputMap& inputs, const NewNodes& added, Changes& changes);

void warn_of_other_graphs(const MergeParts& parts, size_t richest, std::vector<std::string>& warnings);
void warn_of_python(const MergeParts& parts, std::vector<std::string>& warnings);

}  // namespace gedit
