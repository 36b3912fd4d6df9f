// What lies around a graph, reduced to what is still there: command_reference, extract 6.
#pragma once

#include <functional>
#include <string_view>

#include "edit/changes.h"
#include "model/model.h"

namespace gedit {

// What is still there, by name as it stands in the messages.
struct Remaining {
  std::function<bool(std::string_view)> node;      // of a node or tensor: `x`, `x:0`, `^x`
  std::function<bool(std::string_view)> variable;  // is it there as a variable that a VariableDef describes
  std::function<bool(std::string_view)> saver;     // a serialized SaverDef
  std::function<bool(std::string_view)> function;
};

// Collections lose items that are gone, and go with their last; contexts and queue runners stay only where
// they are complete, signatures where all their tensors are; the object graph goes.
void reduce_surroundings(MetaGraph& meta, const Remaining& remaining, Changes& changes);

}  // namespace gedit
