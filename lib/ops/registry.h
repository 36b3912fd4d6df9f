// What is known of an op: its arguments, their types and its attributes
// (tensorflow/core/framework/op_def.proto).
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gedit {

// An argument of an op. Its type is `type`, or that of attribute `type_attr`; repeated as often as attribute
// `number_attr` says; or one for each type in attribute `type_list_attr`.
struct ArgDef {
  std::string_view name;
  int32_t type = 0;
  std::string_view type_attr, number_attr, type_list_attr;
  bool is_ref = false;
};

struct AttrDef {
  std::string_view name, type;      // `list(int)`, `func`, `type`, ...
  std::string_view default_value;   // serialized AttrValue
  std::string_view allowed_values;  // the same, a list of types or strings; empty: all are
  bool has_default = false;
  bool has_minimum = false;  // of an int the least value, of a list the least length
  int64_t minimum = 0;
};

struct OpDef {
  std::string_view name;
  std::vector<ArgDef> inputs, outputs;
  std::vector<AttrDef> attrs;
  bool is_stateful = false;
  int64_t deprecated = 0;  // the producer version from which on graphs may not hold it; 0: none

  const AttrDef* find_attr(std::string_view key) const;
};

// Views into `op_def`. Throws Malformed.
OpDef parse_op_def(std::string_view op_def);

// The built-in OpList: each op as the last release that is followed defines it. Unpacked on the first call.
std::string_view builtin_ops();

// Op names and where they are defined. Made cheap: nothing is read before the first find(), then only names.
class Registry {
 public:
  // Lists are asked in the order in which they were added, the built-in one where add_builtin() stands. The
  // bytes outlive the registry.
  void add_op_list(std::string_view op_list) { lists_.push_back({op_list, {}, 1}); }
  // Finding the library in a graph means going over its nodes, so it is asked for when it is needed.
  void add_library(std::function<std::string_view()> function_def_library) {
    lists_.push_back({{}, std::move(function_def_library), 2});
  }
  void add_builtin();
  // What an edit made or changed: this is the op from now on. The bytes outlive the registry.
  void define(std::string_view op, std::string_view op_def) { defined_[op] = op_def; }

  // The serialized OpDef, empty where the op is unknown. Throws Malformed where an added list is none.
  std::string_view find(std::string_view op);

  // Calls use(name) for every op, in no particular order.
  template <typename Use>
  void each_name(Use use) {
    find({});  // which no op is called, so that all lists are read
    for (const auto& [name, op_def] : defined_) use(name);
    for (size_t i = 0; i < read_.size(); ++i) {
      for (const auto& [name, op_def] : read_[i]) {
        if (known(name, i).data() == nullptr) use(name);
      }
    }
  }

 private:
  struct List {
    std::string_view bytes;
    std::function<std::string_view()> find;  // gives the bytes, where set
    int kind;  // 1: OpList, 2: FunctionDefLibrary, whose functions have an OpDef as their signature
  };
  using Ops = std::vector<std::pair<std::string_view, std::string_view>>;  // names and OpDefs, by name

  static Ops read(const List& list);
  // Its OpDef in the first `lists` lists, without data where it is in none of them.
  std::string_view known(std::string_view op, size_t lists) const;

  std::vector<List> lists_;
  std::vector<Ops> read_;  // of the first lists
  std::unordered_map<std::string_view, std::string_view> defined_;
};

}  // namespace gedit
