// A node that cannot stay as it is, and the graph around it, while other nodes take its place.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "edit/basis/names.h"
#include "graph/graph.h"
#include "graph/names.h"
#include "graph/types.h"
#include "ops/registry.h"
#include "shape/infer.h"

namespace gedit {

// What is known of a tensor's shape: dimensions are -1 where they are unknown, and equal to each other where
// they have one symbol, which is not 0.
struct KnownShape {
  Shape shape;
  std::vector<uint32_t> symbols{};

  bool equal_to(const KnownShape& other, size_t first, size_t last) const;  // dimensions [first, last)
  bool equal_to(const KnownShape& other) const;
};

// What follows for the tensors of a graph, and the graph for whose nodes it does.
struct ShapesOfGraph {
  const GraphShapes* shapes = nullptr;
  const Graph* graph = nullptr;
  std::unordered_map<std::string, Shape> arguments{};  // of a function, by name
};

using NodeAttrs = std::vector<std::pair<std::string, std::string>>;  // keys and AttrValues

// A graph, the main one or a function's body, in which nodes are replaced. What it knows of the graph is of
// before the first change, and made when it is first asked for.
class Rewriting {
 public:
  // `named_outside`: tensors and nodes of the main graph that a signature or a collection names; null: none.
  // `takes`: whether the release has the op. The graph is decoded; all outlive this.
  // `shapes`: what is known of the nodes of before, by their numbers; may be nothing.
  Rewriting(Graph& graph, Registry& ops, const std::set<std::string, std::less<>>* named_outside,
            ShapesOfGraph shapes, std::function<bool(std::string_view)> takes);

  Graph& graph() const { return graph_; }
  Registry& ops() const { return ops_; }
  bool takes(std::string_view op) const { return takes_(op); }
  const Names& names();

  // A tensor in the one way in which it is written here: `a:0` for `a`, `a:y:0` for `a:y`; an argument alone.
  std::string canonical(std::string_view input) const;
  // The node that an input reads; kNoNode for an argument.
  NodeId producer(std::string_view input);
  KnownShape shape(std::string_view input);
  bool named(const std::string& canonical) const;  // by what lies around the main graph
  // Whether a node, a signature, a collection or a function's return reads the tensor.
  bool read(const std::string& canonical);
  // Output `index` of a node of this op, in which no output before it is a list.
  std::string output(std::string_view node, std::string_view op, uint32_t index);

  std::string free_name(std::string_view base);
  void add(std::string node_def) { added_.push_back(std::move(node_def)); }
  // Nodes added since this was last asked, which may be in need of replacing themselves.
  std::vector<NodeId> take_added();

  // Whoever reads tensor `from` (canonical) reads `to` from now on.
  void redirect(const std::string& from, const std::string& to);
  // The node is gone, and whoever waited for it waits for these (`^a`).
  void remove(NodeId id, std::vector<std::string> waits);

  // Rewires all readers. Behind it nothing more is asked.
  void finish();

 private:
  std::string redirected(const std::string& input) const;
  // The nodes, and in place of those that are gone what they waited for; no arguments.
  std::vector<std::string> what_stays(const std::vector<std::string>& nodes) const;
  std::string rewired(std::string_view node_def) const;

  Graph& graph_;
  Registry& ops_;
  const std::set<std::string, std::less<>>* named_outside_;
  ShapesOfGraph shapes_;
  std::function<bool(std::string_view)> takes_;
  std::optional<Names> names_;
  std::optional<NewNames> new_names_;
  std::optional<std::unordered_set<std::string>> read_;
  std::vector<std::string> added_;
  std::unordered_map<std::string, std::string> redirects_;
  std::unordered_multimap<std::string, std::string>
      redirected_to_;  // canonical: by the tensor that is read now
  std::unordered_map<std::string, std::vector<std::string>> removed_;
  std::unordered_set<std::string> arguments_;  // of a function: nobody has to wait for them
};

// One node of it. A replacement reads what it needs, and then calls become() or remove(); nothing has
// happened before.
class Site {
 public:
  Site(Rewriting& in, std::string node_def);

  Rewriting& in;
  const std::string node_def;
  std::string_view name, op, device;  // views into node_def
  std::vector<std::string> inputs, controls;

  DType type(std::string_view key) const { return type_attr(node_def, key).value_or(DType::kInvalid); }
  bool flag(std::string_view key, bool otherwise) const;
  float number(std::string_view key, float otherwise) const;
  std::string text(std::string_view key, std::string_view otherwise) const;
  std::vector<std::string> texts(std::string_view key) const;
  std::vector<int64_t> integers(std::string_view key) const;
  bool has(std::string_view key) const { return find_attr(node_def, key).has_value(); }

  KnownShape shape(size_t slot) const { return in.shape(inputs[slot]); }
  // The elements of an input that is a Const of numbers, at most 64; nothing where it is none.
  std::optional<std::vector<double>> constant(size_t slot) const;
  std::optional<std::vector<std::string>> string_constant(size_t slot) const;
  bool all(size_t slot, double value) const;  // it is a Const, and every element is this
  bool read(uint32_t output) const { return in.read(in.canonical(in.output(name, op, output))); }

  // A node beside this one, `name/WORD` made free, on its device; without data inputs it waits for what this
  // one reads, so that it is in the same loop (docs/rules.md#loop-frames). Its name.
  std::string add(std::string_view word, std::string_view op, const std::vector<std::string>& inputs,
                  const std::vector<std::pair<std::string, std::string>>& attrs);
  // The same, and its first output.
  std::string add_tensor(std::string_view word, std::string_view op, const std::vector<std::string>& inputs,
                         const std::vector<std::pair<std::string, std::string>>& attrs);
  // A Const of it; `value` is a TensorProto.
  std::string add_const(std::string_view word, DType type, std::string_view tensor_proto);

  // The node that stands here from now on, with its name, device, control inputs and internal attributes.
  struct Node {
    std::string op;
    std::vector<std::string> inputs{};
    std::vector<std::pair<std::string, std::string>> attrs{};  // AttrValues
    bool same_outputs = true;                                  // as many, of the same shapes
  };
  void become(const Node& node);
  // The same node with another op, some attributes left out, some others behind them.
  void rename_op(std::string_view op, const std::vector<std::string_view>& without,
                 const std::vector<std::pair<std::string, std::string>>& with = {});
  // Output `from` of the node as it was is output `to` of the one that it became.
  void move_output(uint32_t from, uint32_t to);
  void move_output(uint32_t from, const std::string& tensor);

  const std::string& result() const { return result_; }
  bool removed() const { return removed_; }
  void remove();  // who waits for it waits for what it read

 private:
  std::string result_;
  std::string result_op_;
  bool removed_ = false;
};

// TensorProtos.
std::string scalar_proto(DType type, double value);  // of float, double, half, ints, bool
std::string string_proto(std::string_view text);
std::string int_matrix_proto(const std::vector<int64_t>& values, const std::vector<int64_t>& shape);

}  // namespace gedit
