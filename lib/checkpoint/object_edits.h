// Edits of a checkpoint's object graph: objects follow the keys of their values.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/copied_value.h"
#include "checkpoint/objects.h"
#include "checkpoint/renaming.h"

namespace gedit {

// Pairs whose OLD goes through a second name of an object are made to go through its first, as keys do.
void settle_paths(const ObjectGraph& graph, Renaming& renaming);

// Renames children along the paths; objects that change parents are moved, parents that are missing are made.
// Throws Error (kRefused) where a name is taken.
void rename_objects(ObjectGraph& graph, const Renaming& renaming);
// Attributes follow their keys.
void rename_keys(ObjectGraph& graph, const std::map<std::string, std::string, std::less<>>& renamed);

// Takes away the attributes with these keys, and then slot entries and objects that hold nothing any more.
// Ids keep their order, the root stays.
void drop_keys(ObjectGraph& graph, const std::set<std::string, std::less<>>& keys);

// Objects on the way to a new one are made where they are missing; a key that belongs to no object is passed
// over. Throws Error (kRefused) where something is at a path already.
void copy_values(ObjectGraph& graph, const std::vector<CopiedValue>& values);

// A new root whose children are the roots of these graphs; keys are prefixed by `NAME/`.
ObjectGraph join_objects(std::vector<std::pair<std::string, ObjectGraph>>&& graphs);

}  // namespace gedit
