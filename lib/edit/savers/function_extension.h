// The function by which a TF2 SavedModel saves or restores, while it gains further variables
// (docs/rules.md#copy-tf2-savedmodels).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "edit/functions/function_def.h"
#include "edit/savers/entries.h"
#include "graph/graph.h"
#include "graph/names.h"
#include "model/savers.h"

namespace gedit {

class FunctionExtension {
 public:
  // The body of the function, which outlives it. Nothing changes before apply().
  explicit FunctionExtension(Graph& body);
  FunctionExtension(const FunctionExtension&) = delete;
  FunctionExtension& operator=(const FunctionExtension&) = delete;

  const Savers& savers() const { return savers_; }
  // The number of arguments where there is none of that name.
  size_t number_of(std::string_view argument) const;
  DType type_of(size_t argument) const;

  // One argument more, behind the others, like the one of that number; gives its name, made of `name`.
  std::string add_argument(size_t like, std::string_view name);

  // An entry more in a saver: what the entry `tensor` does for its argument is done under `key` for
  // `argument`.
  void add_entry(const SaverNode& saver, const SavedTensor& tensor, const std::string& key,
                 const std::string& argument);

  void apply();

 private:
  struct Gained {
    const SaverNode* saver = nullptr;
    std::vector<DType> types;  // of the tensors that it has
    std::vector<SaverEntry> entries;
  };

  std::string again(NodeId id, const std::vector<std::string>& inputs);
  void mirror_controls();

  Graph& body_;
  Names names_;
  Edges consumers_;
  GraphSaverNodes nodes_;
  Savers savers_;
  FunctionDef def_;
  std::unordered_map<std::string, size_t> numbers_;            // of its arguments, by name
  std::map<uint32_t, Gained> gained_;                          // by node
  std::map<std::string, std::vector<std::string>> followers_;  // an assignment -> those of copies
  // By a table's import and the copy's argument, what the copy of the import reads as far as it is known.
  std::map<std::pair<uint32_t, std::string>, std::vector<std::string>> imports_;
};

}  // namespace gedit
