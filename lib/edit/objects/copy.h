// Objects of a TF2 SavedModel once more: of a variable under another name, of a table with functions of its
// own (docs/rules.md#copy-tf2-savedmodels).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/library.h"
#include "model/saved_objects.h"
#include "ops/registry.h"

namespace gedit {

// Copies go to paths as they stand in keys; objects that are missing on the way are made. Throws Error
// (kRefused) where something is in the way.
class ObjectCopies {
 public:
  // All outlive it. The objects are checked, and are edited by it alone while it is used.
  ObjectCopies(SavedObjects& objects, Library& library, Registry& ops, std::shared_ptr<Arena> arena);

  // The path of an object that was there before; empty where no child leads to it.
  const std::string& path_of(uint32_t original) const { return paths_[original]; }

  // The object of a variable for a copy of that name. What hangs below the original is not the copy's.
  void add_variable(uint32_t original, std::string_view name, std::string_view path);

  // Whether the functions of a table's object make one, so that those of a copy can.
  bool makes_table(uint32_t original) const;
  // The object of a table, for a copy of that shared_name: it has functions of its own, which capture the
  // copies of what those of the original capture, as far as they were added before. `saved`: also those that
  // save and restore its values. Nothing leads to it where the path is empty.
  void add_table(uint32_t original, const std::string& shared_name, bool saved, std::string_view path);

 private:
  void put(uint32_t id, std::string_view path);
  bool captures(uint32_t object, uint32_t what);
  uint32_t own_functions(uint32_t object, uint32_t table, const std::string& shared_name);
  uint32_t function_object(uint32_t object, uint32_t table);
  void copy_function(const std::string& name, uint32_t table, const std::string& shared_name);

  SavedObjects& objects_;
  Library& library_;
  Registry& ops_;
  std::shared_ptr<Arena> arena_;
  const std::vector<std::string> paths_;
  PathMaker places_;
  std::map<uint32_t, uint32_t> copies_;                                // object -> its copy
  std::map<std::pair<std::string, uint32_t>, std::string> own_names_;  // function of a table -> its copy
};

}  // namespace gedit
