#include "edit/changing/inserted_op.h"

#include "base/error.h"
#include "base/near.h"
#include "base/size.h"
#include "edit/basis/attributes.h"
#include "graph/node.h"
#include "graph/types.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

std::string list_of_type(DType type) {
  std::string list;
  append_varint_field(list, attr_field::kType, static_cast<uint64_t>(static_cast<int32_t>(type)));
  std::string value;
  append_bytes_field(value, attr_field::kList, list);
  return value;
}

std::string empty_list() {
  std::string value;
  append_bytes_field(value, attr_field::kList, "");
  return value;
}

// How a value of the type looks, for the hint.
std::string sample(std::string_view type) {
  if (type.starts_with("list(")) return "list()";
  if (type == "string") return "\"...\"";
  if (type == "type") return "DT_FLOAT";
  if (type == "int") return "1";
  if (type == "float") return "1.0";
  if (type == "bool") return "true";
  if (type == "shape") return "[?,3]";
  if (type == "func") return "func NAME";
  return "tensor(DT_FLOAT [], 1.0)";
}

size_t list_size(std::string_view attr_value) {
  size_t count = 0;
  for (Fields list(last_bytes(attr_value, attr_field::kList)); list.next();) {
    if (list->number == attr_field::kType) each_varint(list.field(), [&](uint64_t) { ++count; });
  }
  return count;
}

}  // namespace

InsertedOp::InsertedOp(Registry& ops, std::string name, const std::vector<std::string>& attrs)
    : name_(std::move(name)) {
  const std::string_view bytes = ops.find(name_);
  if (bytes.empty() || name_.empty()) {
    Near near(name_);
    ops.each_name([&](std::string_view one) { near.offer(one); });
    throw refused("is not known")
        .of(quoted("op", name_))
        .hint(near.best().empty() ? "--ops FILE" : near.did_you_mean());
  }
  def_ = parse_op_def(bytes);
  for (const std::string& text : attrs) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(Cause::kUsage, "is no NAME=VALUE").of("'" + printable(text) + "'");
    const std::string key = text.substr(0, equals);
    std::string value = parse_attr_text(std::string_view(text).substr(equals + 1));
    const AttrDef* attr = def_.find_attr(key);
    if (attr == nullptr && !key.starts_with('_')) throw no_such_attr(def_, key);
    if (attr != nullptr) check_attr_value(*attr, value);
    if (!given_.emplace(key, std::move(value)).second)
      throw Error(Cause::kUsage, "is given twice").of(quoted("attribute", key));
  }
  check_arity();
}

// As far as attributes that were not given leave it open, the first argument is one tensor, others are none.
void InsertedOp::check_arity() const {
  const auto count = [&](const std::vector<ArgDef>& args) {
    uint64_t found = 0;
    for (size_t i = 0; i < args.size(); ++i) {
      const auto list = given_.find(args[i].type_list_attr), number = given_.find(args[i].number_attr);
      if (!args[i].type_list_attr.empty()) {
        found += list != given_.end() ? list_size(list->second) : i == 0 ? 1 : 0;
      } else if (!args[i].number_attr.empty()) {
        found += number != given_.end() ? last_varint(number->second, attr_field::kInt) : i == 0 ? 1 : 0;
      } else {
        ++found;
      }
    }
    return found;
  };
  const uint64_t in = count(def_.inputs), out = count(def_.outputs);
  if (in != 1 || out != 1) {
    throw refused(
        (in != 1 ? "takes " + counted_or_no(in, "tensor") : "gives " + counted_or_no(out, "tensor")) +
        "; insert needs one in, one out")
        .of(quoted("op", name_));
  }
}

bool InsertedOp::keeps_shape() const { return is(name_, OpKind::kKeepsShape); }

std::string InsertedOp::node(std::string_view name, std::string_view input, DType type,
                             std::string_view device, const std::string& subject) const {
  std::map<std::string, std::string, std::less<>> attrs = given_;
  for (size_t i = 0; i < def_.inputs.size(); ++i) {
    const ArgDef& arg = def_.inputs[i];
    const DType plain = base_type(type);
    if (!arg.number_attr.empty()) attrs.emplace(arg.number_attr, int_value(i == 0 ? 1 : 0));
    if (!arg.type_list_attr.empty() && (i > 0 || type != DType::kInvalid))
      attrs.emplace(arg.type_list_attr, i == 0 ? list_of_type(plain) : empty_list());
    if (!arg.type_attr.empty() && i == 0 && type != DType::kInvalid) {
      const std::string value = type_value(plain);
      const AttrDef* attr = def_.find_attr(arg.type_attr);
      if (attr != nullptr && !attrs.contains(arg.type_attr)) {
        try {
          check_attr_value(*attr, value);
        } catch (const Error& error) {
          throw refused("passed " + dtype_name(plain) + " to op '" + printable(name_) + "': " + error.what())
              .of(subject);
        }
      }
      attrs.emplace(arg.type_attr, value);
    }
    const bool by_type = !arg.type_attr.empty() || !arg.type_list_attr.empty();
    const std::string decides(arg.type_attr.empty() ? arg.type_list_attr : arg.type_attr);
    if (i == 0 && by_type && !attrs.contains(decides)) {
      const AttrDef* attr = def_.find_attr(decides);
      throw refused("unknown dtype")
          .of(subject)
          .hint("--ops FILE, or --attr " + printable(decides) + "=" + sample(attr ? attr->type : "type"));
    }
  }
  NodeBuilder builder(name, name_);
  builder.input(input).device(device);
  for (const AttrDef& attr : def_.attrs) {
    if (attrs.contains(attr.name)) continue;
    if (!attr.has_default) {
      throw refused(quoted("attribute", attr.name) + " is required")
          .of(quoted("op", name_))
          .hint("--attr '" + printable(attr.name) + "=" + sample(attr.type) + "'");
    }
    attrs.emplace(attr.name, attr.default_value);
  }
  for (const auto& [key, value] : attrs) builder.attr(key, value);
  std::string node = builder.take();
  // The type that was given, or that the op has anyway, against the tensor's.
  const ArgDef& arg = def_.inputs[0];
  DType wanted{arg.type};
  if (!arg.type_attr.empty()) wanted = type_attr(node, arg.type_attr).value_or(DType::kInvalid);
  if (!arg.type_list_attr.empty()) wanted = DType::kInvalid;
  if (arg.is_ref && wanted != DType::kInvalid) wanted = reference_to(wanted);
  if (!fits(type, wanted)) {
    throw refused("passed " + dtype_name(type) + " where op '" + printable(name_) + "' reads " +
                  dtype_name(wanted))
        .of(subject);
  }
  return node;
}

}  // namespace gedit
