#include "diff/diff.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/parallel.h"
#include "checkpoint/open.h"
#include "diff/lines.h"
#include "diff/nodes.h"
#include "diff/renames.h"
#include "diff/scopes.h"
#include "graph/edges.h"
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
      main_graph();
      library();
    }
    diff_.other = lone_lines(surrounding_lines(before_, after_.kind, &names_),
                             surrounding_lines(after_, before_.kind, nullptr));
    checkpoints();
    return std::move(diff_);
  }

 private:
  void main_graph() {
    Graph& before = before_.graph();
    Graph& after = after_.graph();
    diff_.nodes = before.size();
    const Names names_after(after);
    Matched matched = match_nodes(before, after, names_after);
    std::vector<ScopePair> scopes = find_renamed_scopes(before, after, names_after, matched);
    accept(before, after, scopes);
    for (const ScopePair& scope : scopes) {
      for (const auto& [from, to] : scope.nodes) matched.partner[index_of(from)] = to;
      diff_.renamed.push_back({scope.from + "/", scope.to + "/", scope.nodes.size()});
    }
    if (!scopes.empty()) drop_partners(after, matched);
    renamed_nodes(before, after, matched);
    compare("", before, after, matched, false);
  }

  static void drop_partners(const Graph& after, Matched& matched) {
    NodeSet partners(after.size());
    for (const NodeId id : matched.partner) {
      if (id != kNoNode) partners.add(id);
    }
    std::erase_if(matched.added, [&](NodeId id) { return partners.has(id); });
  }

  // Nodes under other names, where nothing else of them differs.
  void renamed_nodes(const Graph& before, const Graph& after, Matched& matched) {
    std::vector<std::pair<NodeId, NodeId>> pairs = find_renamed_nodes(before, after, matched);
    for (const auto& [from, to] : pairs)
      names_.add_node(std::string(before.name(from)), std::string(after.name(to)));
    // One that is another may have been what others were taken for the same by.
    constexpr int kMostPasses = 8;
    for (int pass = 0, dropped = 1; pass < kMostPasses && dropped > 0; ++pass) {
      const ScopeMapping mapping(names_);
      std::vector<std::string> others;
      std::erase_if(pairs, [&](const std::pair<NodeId, NodeId>& pair) {
        const std::string mapped = mapped_node(before.bytes(pair.first), mapping);
        if (compare_.differences(mapped, after.bytes(pair.second), false).empty()) return false;
        others.emplace_back(before.name(pair.first));
        return true;
      });
      for (const std::string& name : others) names_.drop_node(name);
      dropped = static_cast<int>(others.size());
    }
    for (const auto& [from, to] : pairs) {
      matched.partner[index_of(from)] = to;
      diff_.renamed.push_back(
          {std::string(before.name(from)), std::string(after.name(to)), 1, RenamedScope::Is::kNode});
    }
    if (pairs.empty()) return;
    drop_partners(after, matched);
    same_ = NodeSet();  // what they read may have another name now
  }

  // Functions that only have another number at the end of their names.
  void renumbered() {
    const std::string_view bytes_before = before_.graph().part(graph_field::kLibrary);
    const std::string_view bytes_after = after_.graph().part(graph_field::kLibrary);
    if (bytes_before == bytes_after) return;
    const Library before = Library::decode(bytes_before, before_.arena);
    const Library after = Library::decode(bytes_after, after_.arena);
    for (auto& [from, to] : find_renumbered_functions(before, after)) {
      names_.add_function(from, to);
      diff_.renamed.push_back({from, to, 0, RenamedScope::Is::kFunction});
    }
  }

  // Whether the second of each pair is, to the byte, the first, or what that would be under its new name
  // where there is a mapping. (A byte for each, since several threads write them.)
  static std::vector<uint8_t> equal_nodes(const Graph& before, const Graph& after,
                                          const std::vector<std::pair<NodeId, NodeId>>& pairs,
                                          const Mapping* mapping) {
    std::vector<uint8_t> equal(pairs.size());
    in_parallel(pieces_of(pairs.size()), [&](size_t piece) {
      for (size_t i = piece * kPerPiece, end = std::min(i + kPerPiece, pairs.size()); i < end; ++i) {
        const std::string_view from = before.bytes(pairs[i].first), to = after.bytes(pairs[i].second);
        equal[i] = (mapping != nullptr ? mapped_node(from, *mapping) == to : from == to) ? 1 : 0;
      }
    });
    return equal;
  }

  // A scope of the same names and ops counts as renamed where most of its nodes are the same otherwise.
  void accept(const Graph& before, const Graph& after, std::vector<ScopePair>& scopes) {
    for (const ScopePair& scope : scopes) names_.add(scope.from, scope.to);
    const ScopeMapping mapping(names_);
    std::vector<std::string> refused;
    NodeSet same(before.size());
    std::erase_if(scopes, [&](const ScopePair& scope) {
      const std::vector<uint8_t> equal = equal_nodes(before, after, scope.nodes, &mapping);
      for (size_t i = 0; i < scope.nodes.size(); ++i) {
        if (equal[i] != 0) same.add(scope.nodes[i].first);
      }
      size_t same = 0;
      for (size_t i = 0; i < scope.nodes.size(); ++i) {
        const auto& [from, to] = scope.nodes[i];
        const bool is_same =
            equal[i] != 0 ||
            compare_.differences(mapped_node(before.bytes(from), mapping), after.bytes(to), false).empty();
        same += is_same ? 1 : 0;
      }
      if (same * 2 >= scope.nodes.size() && same > 0) return false;
      refused.push_back(scope.from);
      return true;
    });
    for (const std::string& scope : refused) names_.drop(scope);
    if (refused.empty()) same_ = std::move(same);
  }

  // Nodes of the main graph, or of a function's body; `place` is then `FUNCTION//`.
  void compare(const std::string& place, const Graph& before, const Graph& after, const Matched& matched,
               bool body) {
    const ScopeMapping mapping(names_);
    const bool mapped = !body && !names_.empty();
    std::vector<std::pair<NodeId, NodeId>> pairs;
    for (uint32_t i = 0; i < before.size(); ++i) {
      if (matched.partner[i] != kNoNode) {
        if (body || !same_.has(NodeId{i})) pairs.emplace_back(NodeId{i}, matched.partner[i]);
      } else {
        diff_.removed.push_back({place, before.bytes(NodeId{i})});
      }
    }
    const std::vector<uint8_t> equal = equal_nodes(before, after, pairs, mapped ? &mapping : nullptr);
    std::vector<std::pair<NodeId, Change>> changed;
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (equal[i] != 0) continue;
      const auto& [id, partner] = pairs[i];
      const std::string_view node_after = after.bytes(partner);
      std::vector<std::string> what =
          mapped ? compare_.differences(mapped_node(before.bytes(id), mapping), node_after, body)
                 : compare_.differences(before.bytes(id), node_after, body);
      if (!what.empty())
        changed.push_back({partner, {place + std::string(after.name(partner)), std::move(what), false}});
    }
    for (const NodeId id : matched.added) diff_.added.push_back({place, after.bytes(id)});
    std::stable_sort(changed.begin(), changed.end(),
                     [](const auto& a, const auto& b) { return index_of(a.first) < index_of(b.first); });
    for (auto& [id, change] : changed) diff_.changed.push_back(std::move(change));
  }

  void library() {
    const std::string_view bytes_before = before_.graph().part(graph_field::kLibrary);
    const std::string_view bytes_after = after_.graph().part(graph_field::kLibrary);
    if (bytes_before == bytes_after) return;
    const bool renumbered = std::ranges::any_of(
        diff_.renamed, [](const RenamedScope& one) { return one.is == RenamedScope::Is::kFunction; });
    const std::string_view mapped =
        renumbered ? before_.arena->keep(map_library(bytes_before, ScopeMapping(names_))) : bytes_before;
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
    line += " (" + std::to_string(nodes) + (nodes == 1 ? " node)" : " nodes)");
    functions_.push_back({added, std::move(line)});
  }

  void compare_functions(Function& before, Function& after) {
    if (before.body.message() == after.body.message()) return;
    before.body.decode();
    after.body.decode();
    const Matched matched = match_nodes(before.body, after.body, Names(after.body));
    compare(std::string(before.name) + "//", before.body, after.body, matched, true);
    std::vector<std::string> what = function_differences(before.body, after.body, options_);
    if (!what.empty()) diff_.changed.push_back({std::string(before.name), std::move(what), true});
  }

  // Variables of a SavedModel, where both have them.
  void checkpoints() {
    diff_.other.insert(diff_.other.begin(), functions_.begin(), functions_.end());
    if (!before_.directory || !after_.directory) return;
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
  NodeSet same_;  // nodes of the first graph that are, to the byte, as in the second under these names
  Diff diff_;
  std::vector<LoneLine> functions_;
};

}  // namespace

Diff diff_models(Model& before, Model& after, Registry& ops_before, Registry& ops_after,
                 const DiffOptions& options) {
  return Differ(before, after, ops_before, ops_after, options).run();
}

}  // namespace gedit
