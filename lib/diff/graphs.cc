#include "diff/graphs.h"

#include <algorithm>

#include "base/parallel.h"
#include "diff/renames.h"
#include "graph/edges.h"

namespace gedit {
namespace {

class GraphDiffer {
 public:
  GraphDiffer(std::string place, const Graph& before, const Graph& after, RenamedScopes& names,
              NodeComparison& comparison, Diff& diff)
      : place_(std::move(place)),
        before_(before),
        after_(after),
        body_(after.is_body()),
        names_(names),
        mapping_(names, body_),
        comparison_(comparison),
        diff_(diff) {}

  void run() {
    diff_.nodes += before_.size();
    const Names names_after(after_);
    matched_ = match_nodes(before_, after_, names_after);
    std::vector<ScopePair> scopes = find_renamed_scopes(before_, after_, names_after, matched_);
    accept(scopes);
    for (const ScopePair& scope : scopes) {
      for (const auto& [from, to] : scope.nodes) matched_.partner[index_of(from)] = to;
      diff_.renamed.push_back({shown(scope.from), shown(scope.to), scope.nodes.size()});
    }
    if (!scopes.empty()) drop_partners();
    find_renamed();
    compare();
  }

 private:
  using Pairs = std::vector<std::pair<NodeId, NodeId>>;

  // A scope with its slash; everything in a body is `FUNCTION//`.
  std::string shown(const std::string& scope) const {
    return place_ + (scope.empty() && body_ ? "" : scope + "/");
  }

  void drop_partners() {
    NodeSet partners(after_.size());
    for (const NodeId id : matched_.partner) {
      if (id != kNoNode) partners.add(id);
    }
    std::erase_if(matched_.added, [&](NodeId id) { return partners.has(id); });
  }

  // By pair: whether the second is, to the byte, the first under the names that it has there. (A byte for
  // each, since several threads write them.)
  std::vector<uint8_t> equal(const Pairs& pairs) const {
    const bool mapped = !names_.empty();
    std::vector<uint8_t> are(pairs.size());
    in_pieces(pairs.size(), [&](size_t, PieceRange range) {
      for (size_t i = range.begin; i < range.end; ++i) {
        const std::string_view from = before_.bytes(pairs[i].first), to = after_.bytes(pairs[i].second);
        are[i] = (mapped ? mapped_node(from, mapping_) == to : from == to) ? 1 : 0;
      }
    });
    return are;
  }

  std::vector<std::string> differences(const std::pair<NodeId, NodeId>& pair) {
    const std::string_view from = before_.bytes(pair.first), to = after_.bytes(pair.second);
    if (names_.empty()) return comparison_.differences(from, to, body_);
    return comparison_.differences(mapped_node(from, mapping_), to, body_);
  }

  // A scope of the same names and ops counts as renamed where most of its nodes are the same otherwise.
  void accept(std::vector<ScopePair>& scopes) {
    for (const ScopePair& scope : scopes) names_.add(scope.from, scope.to);
    std::vector<std::string> refused;
    NodeSet same(before_.size());
    std::erase_if(scopes, [&](const ScopePair& scope) {
      const std::vector<uint8_t> are_equal = equal(scope.nodes);
      size_t count = 0;
      for (size_t i = 0; i < scope.nodes.size(); ++i) {
        if (are_equal[i] != 0) same.add(scope.nodes[i].first);
        count += are_equal[i] != 0 || differences(scope.nodes[i]).empty() ? 1 : 0;
      }
      if (count * 2 >= scope.nodes.size() && count > 0) return false;
      refused.push_back(scope.from);
      return true;
    });
    for (const std::string& scope : refused) names_.drop(scope);
    if (refused.empty()) same_ = std::move(same);
  }

  // Nodes under other names, where nothing else of them differs.
  void find_renamed() {
    Pairs pairs = find_renamed_nodes(before_, after_, matched_, names_);
    for (const auto& [from, to] : pairs)
      names_.add_node(std::string(before_.name(from)), std::string(after_.name(to)));
    // One that is another may have been what others were taken for the same by.
    constexpr int kMostPasses = 8;
    for (int pass = 0, dropped = 1; pass < kMostPasses && dropped > 0; ++pass) {
      const std::vector<uint8_t> are_equal = equal(pairs);
      Pairs left;
      std::vector<std::string> others;
      for (size_t i = 0; i < pairs.size(); ++i) {
        if (are_equal[i] != 0 || differences(pairs[i]).empty()) {
          left.push_back(pairs[i]);
        } else {
          others.emplace_back(before_.name(pairs[i].first));
        }
      }
      pairs = std::move(left);
      for (const std::string& name : others) names_.drop_node(name);
      dropped = static_cast<int>(others.size());
    }
    for (const auto& [from, to] : pairs) {
      matched_.partner[index_of(from)] = to;
      diff_.renamed.push_back({place_ + std::string(before_.name(from)),
                               place_ + std::string(after_.name(to)), 1, RenamedScope::Is::kNode});
    }
    if (pairs.empty()) return;
    drop_partners();
    same_ = NodeSet();  // what they read may have another name now
  }

  void compare() {
    Pairs pairs;
    for (uint32_t i = 0; i < before_.size(); ++i) {
      const NodeId id{i};
      if (matched_.partner[i] == kNoNode) {
        diff_.removed.push_back({place_, before_.bytes(id)});
      } else if (!same_.has(id)) {
        pairs.emplace_back(id, matched_.partner[i]);
      }
    }
    const std::vector<uint8_t> are_equal = equal(pairs);
    std::vector<std::pair<NodeId, Change>> changed;
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (are_equal[i] != 0) continue;
      std::vector<std::string> what = differences(pairs[i]);
      const NodeId in_after = pairs[i].second;
      if (!what.empty())
        changed.push_back({in_after, {place_ + std::string(after_.name(in_after)), std::move(what), false}});
    }
    for (const NodeId id : matched_.added) diff_.added.push_back({place_, after_.bytes(id)});
    std::stable_sort(changed.begin(), changed.end(),
                     [](const auto& a, const auto& b) { return index_of(a.first) < index_of(b.first); });
    for (auto& [id, change] : changed) diff_.changed.push_back(std::move(change));
  }

  const std::string place_;
  const Graph &before_, &after_;
  const bool body_;
  RenamedScopes& names_;
  const ScopeMapping mapping_;
  NodeComparison& comparison_;
  Diff& diff_;
  Matched matched_;
  NodeSet same_;  // nodes of the first graph that are, to the byte, as in the second under these names
};

}  // namespace

void diff_graphs(const std::string& place, const Graph& before, const Graph& after, RenamedScopes& names,
                 NodeComparison& comparison, Diff& diff) {
  GraphDiffer(place, before, after, names, comparison, diff).run();
}

}  // namespace gedit
