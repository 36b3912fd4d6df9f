// What lies around a graph, reduced to what is still there: docs/rules.md#extract-what-lies-around.
#pragma once

#include <functional>
#include <string_view>

#include "edit/basis/changes.h"
#include "model/model.h"

namespace gedit {

// What is still there, by name as it stands in the messages.
struct Remaining {
  std::function<bool(std::string_view)> node;      // of a node or tensor: `x`, `x:0`, `^x`
  std::function<bool(std::string_view)> variable;  // is it there as a variable that a VariableDef describes
  std::function<bool(std::string_view)> saver;     // a serialized SaverDef
  std::function<bool(std::string_view)> function;
};

// Signatures stay where all their tensors do.
void reduce_signatures(MetaGraph& meta, const Remaining& remaining, Changes& changes);

// Collections lose items that are gone, and go with their last; contexts and queue runners stay only where
// they are complete; assets and savers with their nodes.
void reduce_surroundings(MetaGraph& meta, const Remaining& remaining);

// The object graph goes; both loaders then run what the model is to start with.
void drop_object_graph(MetaGraph& meta);

}  // namespace gedit
