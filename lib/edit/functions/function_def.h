// The only place that makes or changes a FunctionDef: what it is called, takes, returns, and says of itself.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/message_edit.h"
#include "graph/dtype.h"
#include "graph/library.h"
#include "graph/types.h"
#include "ops/registry.h"

namespace gedit {

namespace op_def_field {  // OpDef and OpDef.ArgDef
constexpr uint32_t kName = 1, kInput = 2, kOutput = 3, kStateful = 17, kControlOutput = 20;
constexpr uint32_t kArgName = 1, kArgType = 3, kArgNumberAttr = 5, kArgTypeListAttr = 6, kArgHandleData = 7,
                   kArgFullType = 17;
}  // namespace op_def_field

// A FunctionDef taken apart. Its nodes are edited in the Graph; the rest here, and store() puts it into the
// Graph. What no operation touched is written back as it was, unknown fields too. What counts arguments
// (arg_attr, resource_arg_unique_id, _input_shapes) follows them.
//   FunctionDef def(body); def.rename("f_frozen"); def.remove_arguments({false, true}); def.store();
// Arguments and outputs are known by their numbers as they are at that moment, and are ArgDefs. Every
// operation is linear in the size of the signature at most.
class FunctionDef {
 public:
  // Of a function's body, which outlives it; of an empty one becomes a new function. Throws Malformed.
  explicit FunctionDef(Graph& body);

  std::string_view name() const { return name_; }
  size_t argument_count() const { return arguments_.size(); }
  std::string_view argument(size_t number) const { return arguments_[number].def; }
  size_t output_count() const { return outputs_.size(); }
  std::string_view output(size_t number) const { return outputs_[number]; }

  void rename(std::string name) { name_ = std::move(name); }
  void set_stateful() { stateful_ = true; }

  // Behind the others. `attrs` is an ArgAttrs.
  void add_argument(std::string arg_def, std::string_view attrs = {});
  // Behind the others, one of another name that is like argument `like` in all else.
  void add_argument_like(size_t like, std::string_view name);
  void remove_arguments(const std::vector<bool>& removed);  // by number; those behind its end stay
  // The first ones in another order: at place k stands what stood at order[k].
  void reorder_arguments(const std::vector<size_t>& order);
  void reorder_outputs(const std::vector<size_t>& order);

  // The value of a variable where the function takes, or returns, its handle.
  void make_argument_value(size_t number, DType dtype, const Shape& shape);
  void make_output_value(size_t number, DType dtype);

  // Behind the others; `source` is what the body returns there, as an input of the body.
  void add_output(std::string arg_def, std::string_view source);
  // Calls use(output's name, source) for all that is returned, which becomes what use gives.
  void map_returns(const std::function<std::string(std::string_view, std::string_view)>& use);

  // The function waits for the node, too.
  void add_control_output(std::string_view name, std::string_view node);
  // Calls use(node) for all that the function waits for; behind it, it waits for the nodes that use gives,
  // too, under their own names, which get a number where one is taken.
  void add_control_outputs(const std::function<std::vector<std::string>(std::string_view)>& use);
  // It no longer waits for the nodes of which use(node) is true.
  void remove_control_outputs(const std::function<bool(std::string_view)>& use);

  // Removes the attributes by which TensorFlow takes another function for this one, which has another
  // signature now.
  void remove_alternatives();

  void store();
  std::string encode();  // store() and the whole FunctionDef

 private:
  static constexpr size_t kNew = SIZE_MAX;
  struct Argument {
    std::string def;
    size_t was = kNew;       // its number in the file
    size_t shape_of = kNew;  // the number in the file of the argument whose shape it has
    bool value = false;      // it is one where it was a handle
    std::string shape;       // TensorShapeProto of the value
    std::string attrs;       // of a new one
  };
  struct Return {  // an entry of ret or control_ret
    explicit Return(std::string_view entry);
    Return(std::string_view new_key, std::string_view new_value);
    std::string key, value, bytes;
  };

  static std::vector<std::string> bytes_of(const std::vector<Return>& returns);
  std::vector<std::string> contents_of(uint32_t field) const;
  void store_field(uint32_t field, const std::vector<std::string>& contents);
  void store_returns();
  std::string signature() const;
  // The entries of a map from numbers of arguments under those that they have now. Of an argument that became
  // a value change(entry) gives what to keep, or nothing.
  template <typename Change>
  std::vector<std::string> numbered(const std::vector<std::string>& entries, Change change) const;
  std::string with_shapes(std::string_view attr_value) const;

  Graph& body_;
  std::string name_;
  bool stateful_ = false;  // is to become
  size_t count_ = 0;       // of the arguments in the file
  std::vector<Argument> arguments_;
  std::vector<std::string> outputs_;
  std::vector<std::string> control_outputs_;  // names
  std::vector<Return> returns_, control_returns_;
  std::vector<std::string> attributes_, arg_attrs_, unique_ids_;  // entries
};

// OpDef.ArgDef.
std::string arg_def(std::string_view name, DType type);

// The FunctionDef under another name.
std::string with_function_name(std::string_view function_def, std::string_view name);

// The first of base, base_1, ... that is no function, no op, and not one of those that are `promised`.
std::string free_function_name(Library& library, Registry& ops, std::string_view base,
                               const std::unordered_set<std::string>& promised = {});

// A name for an argument or output: lower case letters, digits and `_`, a letter first.
std::string argument_name(std::string_view text);

}  // namespace gedit
