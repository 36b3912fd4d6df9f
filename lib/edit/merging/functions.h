// The function libraries of several graphs as one: docs/rules.md#merge-functions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/first_free.h"
#include "edit/merging/names.h"

namespace gedit {

class MergedLibrary {
 public:
  // Decides what the functions are called, and tells the operands. Throws Error (kRefused) where two
  // of one name differ, unless kUniquify.
  MergedLibrary(MergeParts& parts, NameConflict on_conflict);

  bool present() const { return present_; }  // an operand has a library, be it empty
  std::string encode() const;                // the FunctionDefLibrary

 private:
  struct Definition {
    std::string_view name;
    std::string_view original;  // as in the file
    std::string_view current;   // what identifies its state is its operand's own
    std::string_view gradient;  // the function that is its gradient, or empty
    bool merged = false;        // it is one with an earlier operand's
    // Gradients that the library registers and its nodes name: the type, and the function that is it.
    std::map<std::string_view, std::string_view> registered{};
  };

  void read(MergePart& part);
  void decide(MergePart& part, NameConflict on_conflict);
  void name_gradients(MergePart& part);
  void rename(MergePart& part, std::string_view name);
  std::string encode_part(const MergePart& part) const;

  MergeParts& parts_;
  bool present_ = false;
  Arena arena_;                                       // of changed definitions
  std::vector<std::vector<Definition>> definitions_;  // by part
  std::unordered_set<std::string> names_;             // of all functions
  FreeNames free_names_;
  // Types under which gradients are registered, by the function's name in the merged graph.
  std::unordered_map<std::string, std::string> gradient_types_;
  std::set<std::string, std::less<>> taken_types_;  // all of them
  FreeNames free_types_;
  std::unordered_map<std::string, const Definition*> known_;  // by the name in the merged graph
  std::unordered_map<std::string, const MergePart*> known_from_;
};

}  // namespace gedit
