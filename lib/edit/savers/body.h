// The function by which a TF2 SavedModel saves or restores, while it gains further variables
// (docs/rules.md#copy-tf2-savedmodels).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "edit/basis/names.h"
#include "graph/graph.h"
#include "graph/names.h"
#include "model/savers.h"

namespace gedit {

class SaverBody {
 public:
  // The body of the function, which outlives it. Nothing changes before apply().
  explicit SaverBody(Graph& body);
  SaverBody(const SaverBody&) = delete;
  SaverBody& operator=(const SaverBody&) = delete;

  const Savers& savers() const { return savers_; }
  size_t number_of(
      std::string_view argument) const;  // the number of arguments where there is none of that name
  DType type_of(size_t argument) const;

  // One argument more, behind the others, like the one of that number; gives its name, made of `name`.
  std::string add_argument(size_t like, std::string_view name);

  // An entry more in a saver: what the entry `tensor` does for its argument is done under `key` for
  // `argument`.
  void add_entry(const SaverNode& saver, const SavedTensor& tensor, const std::string& key,
                 const std::string& argument);

  void apply();

 private:
  struct Entries {
    const SaverNode* saver = nullptr;
    std::vector<std::string> keys, slices, sources;  // sources: of a SaveV2
    std::vector<DType> known, types;                 // of the entries that are there, of the new ones
  };

  std::string again(NodeId id, const std::vector<std::string>& inputs);
  void apply(const Entries& entries);
  std::string strings_of(NodeId id, NodeId reader, const std::string& input,
                         const std::vector<std::string>& strings);
  void mirror_controls();
  void extend_signature();
  std::string more_shapes(std::string_view list) const;

  Graph& body_;
  Names names_;
  NewNames fresh_;
  Savers savers_;
  std::vector<std::string_view> arguments_;  // ArgDefs
  std::unordered_map<std::string_view, size_t> numbers_;
  std::vector<std::string> new_arguments_;
  std::vector<size_t> like_;  // for each new argument, the one that it is like
  std::map<uint32_t, Entries> entries_;
  std::map<std::string, std::vector<std::string>> followers_;  // an assignment -> those of copies
  // By a table's import and the copy's argument, what the copy of the import reads as far as it is known.
  std::map<std::pair<uint32_t, std::string>, std::vector<std::string>> imports_;
  std::vector<std::string> control_outputs_;
};

}  // namespace gedit
