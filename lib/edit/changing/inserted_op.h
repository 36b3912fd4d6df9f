// The op of `gedit insert`: one tensor in, one out, its attributes given, defaults, or the tensor's type.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dtype.h"
#include "ops/registry.h"

namespace gedit {

class InsertedOp {
 public:
  // `attrs`: NAME=VALUE. Throws Error: kUsage for what is no NAME=VALUE, kRefused where the op is unknown, is
  // not one in and one out, has no such attribute, or another type of it.
  InsertedOp(Registry& ops, std::string name, const std::vector<std::string>& attrs);

  const std::string& name() const { return name_; }
  std::string output() const { return std::string(def_.outputs[0].name); }

  // Whether what comes out is known to have the shape of what goes in.
  bool keeps_shape() const;

  // A node of it. `type`: of the tensor `input`; `subject`: the tensor, for refusals: a type that is unknown
  // or that the op does not take, an attribute that is required.
  std::string node(std::string_view name, std::string_view input, DType type, std::string_view device,
                   const std::string& subject) const;

 private:
  void check_arity() const;

  std::string name_;
  OpDef def_;
  std::map<std::string, std::string, std::less<>> given_;  // serialized AttrValues
};

}  // namespace gedit
