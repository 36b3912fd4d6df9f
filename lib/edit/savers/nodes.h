// The nodes of a saver while an edit changes them: in a graph, in the body of a function, or on their way
// into a merged graph. Of the Consts with keys and slices, which several nodes may read, each gets its own.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "edit/basis/names.h"
#include "graph/edges.h"
#include "graph/graph.h"
#include "graph/names.h"

namespace gedit {

// Whoever derives from it says where the nodes are.
class SaverNodes {
 public:
  SaverNodes() = default;
  SaverNodes(const SaverNodes&) = delete;
  SaverNodes& operator=(const SaverNodes&) = delete;
  virtual ~SaverNodes() = default;

  // The node as it is by now, with the names of the edited graph; its inputs.
  virtual std::string node(NodeId id) const = 0;
  std::vector<std::string> inputs_of(NodeId id) const;

  virtual void change(NodeId id, std::string node_def) = 0;
  virtual void add(std::string node_def) = 0;
  virtual std::string free_name(std::string_view wanted) = 0;

  // A node like `id` under its name with the next free number; inputs are given, the rest is as in
  // `node_def`, which is the node itself where it is empty. Gives the name.
  std::string duplicate(NodeId id, const std::vector<std::string>& inputs, std::string node_def = {});

  // The strings in the Const `id` become these, for the node `reader` alone: where others read the Const,
  // too, the reader gets one of its own. Gives what the reader's input is to be.
  std::string set_strings(NodeId id, NodeId reader, const std::string& input,
                          const std::vector<std::string>& strings);
  bool is_alone(NodeId id, NodeId reader) const;  // nobody else reads it

  // The NoOp runs this node, too. All are changed by run_groups().
  void run_in(NodeId group, const std::string& node) { groups_[index_of(group)].push_back("^" + node); }
  void run_groups();

 protected:
  virtual const Edges& consumers() const = 0;
  // Whether something that is new reads it, too.
  virtual bool read_elsewhere(NodeId /*id*/) const { return false; }
  // Whether `reader`, which read `id` when the edit began, still does.
  virtual bool still_reads(NodeId /*reader*/, NodeId /*id*/) const { return true; }
  // How the first output of a new Const is read.
  virtual std::string output_of(const std::string& name) const { return name; }

 private:
  std::map<uint32_t, std::vector<std::string>> groups_;  // NoOps and the control inputs that they gain
};

// What becomes of a Const when all who read it got their own: it stays for nobody, or the last one has it.
enum class SharedConsts { kStay, kGoToTheLast };

// Nodes that are changed where they stand, in a graph or a decoded body; what is given outlives it.
class GraphSaverNodes : public SaverNodes {
 public:
  GraphSaverNodes(Graph& graph, const Names& names, const Edges& consumers, SharedConsts shared)
      : graph_(graph), consumers_(consumers), shared_(shared), names_(names) {}

  std::string node(NodeId id) const override { return std::string(graph_.bytes(id)); }
  void change(NodeId id, std::string node_def) override { graph_.replace(id, node_def); }
  void add(std::string node_def) override { graph_.append(node_def); }
  std::string free_name(std::string_view wanted) override { return names_.free(wanted); }
  void reserve(std::string_view name) { names_.reserve(name); }  // of an argument

 protected:
  const Edges& consumers() const override { return consumers_; }
  bool still_reads(NodeId reader, NodeId id) const override;
  std::string output_of(const std::string& name) const override {
    return graph_.is_body() ? name + ":output:0" : name;
  }

  Graph& graph_;

 private:
  const Edges& consumers_;
  const SharedConsts shared_;
  NewNames names_;
};

}  // namespace gedit
