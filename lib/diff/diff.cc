#include "diff/diff.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/size.h"
#include "checkpoint/open.h"
#include "diff/graphs.h"
#include "diff/lines.h"
#include "diff/nodes.h"
#include "diff/renames.h"
#include "diff/scopes.h"
#include "graph/function_names.h"
#include "graph/library.h"
#include "graph/listing.h"
#include "graph/listing_text.h"

namespace gedit {
namespace {

class Differ {
 public:
  Differ(Model& before, Model& after, Registry& ops_before, Registry& ops_after, const DiffOptions& options)
      : before_(before), after_(after), options_(options), compare_(ops_before, ops_after, options) {}

  Diff run() {
    if (before_.graph().message() != after_.graph().message()) {
      before_.graph().decode();
      after_.graph().decode();
      renumbered();
      diff_graphs("", before_.graph(), after_.graph(), names_, compare_, diff_);
      library();
    }
    diff_.other = lone_lines(surrounding_lines(before_, after_.kind, &names_),
                             surrounding_lines(after_, before_.kind, nullptr));
    files();
    return std::move(diff_);
  }

 private:
  // Functions that only have another number at the end of their names.
  void renumbered() {
    const std::string_view bytes_before = before_.graph().part(graph_field::kLibrary);
    const std::string_view bytes_after = after_.graph().part(graph_field::kLibrary);
    if (bytes_before == bytes_after) return;
    const Library before = Library::decode(bytes_before, before_.arena);
    const Library after = Library::decode(bytes_after, after_.arena);
    for (auto& [from, to] : find_renumbered_functions(before, after)) {
      names_.add_function(from, to);
      renumbered_.insert(to);
      diff_.renamed.push_back({from, to, 0, RenamedScope::Is::kFunction});
    }
  }

  void library() {
    const std::string_view bytes_before = before_.graph().part(graph_field::kLibrary);
    const std::string_view bytes_after = after_.graph().part(graph_field::kLibrary);
    if (bytes_before == bytes_after) return;
    const std::string_view mapped = !renumbered_.empty()
                                        ? before_.arena->keep(map_library(bytes_before, ScopeMapping(names_)))
                                        : bytes_before;
    Library before = Library::decode(mapped, before_.arena);
    Library after = Library::decode(bytes_after, after_.arena);
    std::unordered_map<std::string_view, Function*> by_name;
    for (Function& function : after.functions) by_name.emplace(function.name, &function);
    std::set<std::string_view> both;
    for (Function& function : before.functions) {
      const auto found = by_name.find(function.name);
      if (found == by_name.end()) {
        lone_function(false, function);
      } else if (both.insert(function.name).second) {
        compare_functions(function, *found->second);
      }
    }
    for (Function& function : after.functions) {
      if (!both.contains(function.name)) lone_function(true, function);
    }
    std::vector<LoneLine> lines = lone_lines(gradient_lines(mapped), gradient_lines(bytes_after));
    functions_.insert(functions_.end(), lines.begin(), lines.end());
  }

  void lone_function(bool added, Function& function) {
    function.body.decode();
    std::string line = "function ";
    print_name(line, function.name);
    const uint32_t nodes = function.body.size();
    line += " (" + counted(nodes, "node") + ")";
    functions_.push_back({added, std::move(line)});
  }

  void compare_functions(Function& before, Function& after) {
    if (before.body.message() == after.body.message()) return;
    before.body.decode();
    after.body.decode();
    RenamedScopes names;
    for (const auto& [from, to] : renamed_arguments(before.body, after.body))
      names.add_argument(std::string(from), std::string(to));
    diff_graphs(std::string(before.name) + "//", before.body, after.body, names, compare_, diff_);
    std::vector<std::string> what =
        function_differences(before.body, after.body, names, renumbered_.contains(before.name), options_);
    if (!what.empty()) diff_.changed.push_back({std::string(before.name), std::move(what), true});
  }

  // Files of SavedModels: of their assets, and of variables, where both have them.
  void files() {
    diff_.other.insert(diff_.other.begin(), functions_.begin(), functions_.end());
    if (!before_.directory || !after_.directory) return;
    const std::vector<LoneLine> assets = lone_lines(asset_file_lines(before_), asset_file_lines(after_));
    diff_.other.insert(diff_.other.end(), assets.begin(), assets.end());
    const auto find = [](const Model& model) {
      return find_checkpoint(join_path(join_path(model.folder, "variables"), "variables"));
    };
    const auto before = find(before_), after = find(after_);
    if (!before || !after) return;
    const Diff tensors = diff_checkpoints(open_checkpoint(*before), open_checkpoint(*after));
    diff_.other.insert(diff_.other.end(), tensors.other.begin(), tensors.other.end());
  }

  Model& before_;
  Model& after_;
  const DiffOptions& options_;
  NodeComparison compare_;
  RenamedScopes names_;
  std::set<std::string, std::less<>> renumbered_;  // functions, as the second graph calls them
  Diff diff_;
  std::vector<LoneLine> functions_;
};

}  // namespace

Diff diff_models(Model& before, Model& after, Registry& ops_before, Registry& ops_after,
                 const DiffOptions& options) {
  return Differ(before, after, ops_before, ops_after, options).run();
}

}  // namespace gedit
