// What the steps of a merge of savers know of each other (merge_savers.h); for their own files alone.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "checkpoint/bundle.h"
#include "edit/merging/savers.h"
#include "edit/savers/functions.h"
#include "model/saver_def.h"

namespace gedit {

// The scope that a name is in, with the slash.
inline std::string scope_of(std::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? "" : std::string(name.substr(0, slash + 1));
}

// What is known of an operand's savers.
struct MergedSavers::Own {
  SaverDefNodes def;                          // of saver_def
  std::unordered_set<uint32_t> initializers;  // nodes that VariableDefs name
  Savers all, main;
  std::optional<SaverFunctions> functions;  // in place of `main`
};

// Nodes of the saver that is kept, under their new names.
class MergedSavers::Nodes final : public SaverNodes {
 public:
  Nodes(const MergePart& part, MergedNames& names) : part_(part), names_(names) {}

  std::string node(NodeId id) const override {
    const auto found = changed_.find(index_of(id));
    return found != changed_.end() ? found->second : mapped_node(part_.graph().bytes(id), part_, id);
  }
  std::string free_name(std::string_view wanted) override { return names_.free_name(wanted); }
  void change(NodeId id, std::string node_def) override { changed_[index_of(id)] = std::move(node_def); }
  void add(std::string node_def) override { added_.push_back(std::move(node_def)); }

  void list(NewNodes& nodes) const {
    for (const auto& [id, node_def] : changed_) nodes.push_back(node_def);
    nodes.insert(nodes.end(), added_.begin(), added_.end());
  }

  void apply(Graph& graph, NewNodes& nodes) {
    for (auto& [id, node_def] : changed_) graph.settle(NodeId{part_.first + id}, std::move(node_def));
    std::move(added_.begin(), added_.end(), std::back_inserter(nodes));
  }

 private:
  const Edges& consumers() const override { return part_.facts.consumers(); }

  const MergePart& part_;
  MergedNames& names_;
  std::map<uint32_t, std::string> changed_;
  NewNodes added_;
};

// What the kept saver gains.
struct MergedSavers::Kept {
  explicit Kept(const MergePart& part, MergedNames& names) : nodes(part, names) {}

  Nodes nodes;
  std::string scope;  // of its nodes, in the merged graph, with the slash
  std::vector<SaverEntry> saved, restored;
  // What happens with the value of each entry of `restored`: operands' readers are told, or a new assignment
  // is made of it.
  struct Use {
    MergePart* part = nullptr;
    NodeId restore = kNoNode;
    std::string tensor;     // as the operand's readers write it
    std::string variable;   // else: the variable of a new assignment
    bool resource = false;  // it is a handle
  };
  std::vector<Use> uses;
  std::vector<std::string> ends;  // nodes that the restore operation is to run
};

}  // namespace gedit
