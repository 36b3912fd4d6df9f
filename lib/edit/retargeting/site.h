// A node that cannot stay as it is, while other nodes take its place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edit/retargeting/rewriting.h"
#include "graph/types.h"

namespace gedit {

using NodeAttrs = std::vector<std::pair<std::string, std::string>>;  // keys and AttrValues

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
  // The same op of other inputs, without an attribute; those of `with` take the place of what has their keys.
  void take_inputs(std::vector<std::string> other, std::string_view without = {}, const NodeAttrs& with = {});
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
