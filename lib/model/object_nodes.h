// Which node of a SavedModel's main graph stands for which of its objects: a VarHandleOp for a variable, a
// table for its resource. Nothing in the file says so; it follows from what functions capture, else from
// names.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "graph/names.h"
#include "model/model.h"
#include "model/saved_objects.h"

namespace gedit {

// By node, the object. A call of a concrete function ends in the inputs that stand for the function's bound
// inputs (python/saved_model/save.py), and MetaGraph::called_objects knows those that are inlined; constants
// name their node; what no function captures is found by the key under which the saver's functions, or its
// nodes, restore it, else by a name that only one object has. An object has one node, but for an asset, whose
// path several may hold. Where two nodes are called for the same object, the first in the graph is it: copies
// stand behind originals.
std::unordered_map<uint32_t, uint32_t> object_nodes(const MetaGraph& meta, const Names& names,
                                                    const SavedObjects& objects);

// Variables that MetaGraph::called_objects knows get the names of their nodes, where they have others:
// several objects may have one name, and when their calls are gone nothing else tells them apart.
void name_by_nodes(SavedObjects& objects, const MetaGraph& meta);

}  // namespace gedit
