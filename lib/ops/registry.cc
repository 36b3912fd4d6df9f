#include "ops/registry.h"

#include <memory>

#include "base/embedded.h"
#include "base/wire.h"
#include "ops/history.h"

extern "C" {
extern const char gedit_builtin_ops[];  // NOLINT(readability-identifier-naming): a symbol of gedit_embed()
extern const char gedit_builtin_ops_end[];  // NOLINT(readability-identifier-naming)
}

namespace gedit {
namespace {

ArgDef parse_arg(std::string_view bytes) {
  ArgDef arg;
  for (Fields fields(bytes); fields.next();) {
    if (fields->bytes(1)) arg.name = fields->value;
    if (fields->number == 3) arg.type = static_cast<int32_t>(fields->varint);
    if (fields->bytes(4)) arg.type_attr = fields->value;
    if (fields->bytes(5)) arg.number_attr = fields->value;
    if (fields->bytes(6)) arg.type_list_attr = fields->value;
    if (fields->number == 16 && fields->wire == Wire::kVarint) arg.is_ref = fields->varint != 0;
  }
  return arg;
}

AttrDef parse_attr(std::string_view bytes) {
  AttrDef attr;
  for (Fields fields(bytes); fields.next();) {
    if (fields->bytes(1)) attr.name = fields->value;
    if (fields->bytes(2)) attr.type = fields->value;
    if (fields->bytes(7)) attr.allowed_values = fields->value;
    if (fields->number == 5 && fields->wire == Wire::kVarint) attr.has_minimum = fields->varint != 0;
    if (fields->number == 6 && fields->wire == Wire::kVarint)
      attr.minimum = static_cast<int64_t>(fields->varint);
    if (fields->bytes(3)) {
      attr.default_value = fields->value;
      attr.has_default = true;
    }
  }
  return attr;
}

}  // namespace

const AttrDef* OpDef::find_attr(std::string_view key) const {
  for (const AttrDef& attr : attrs) {
    if (attr.name == key) return &attr;
  }
  return nullptr;
}

OpDef parse_op_def(std::string_view op_def) {
  OpDef op;
  for (Fields fields(op_def); fields.next();) {
    if (fields->bytes(1)) op.name = fields->value;
    if (fields->bytes(2)) op.inputs.push_back(parse_arg(fields->value));
    if (fields->bytes(3)) op.outputs.push_back(parse_arg(fields->value));
    if (fields->bytes(4)) op.attrs.push_back(parse_attr(fields->value));
    if (fields->bytes(8)) op.deprecated = static_cast<int64_t>(last_varint(fields->value, 1));
    if (fields->number == 17 && fields->wire == Wire::kVarint) op.is_stateful = fields->varint != 0;
  }
  return op;
}

std::string_view builtin_ops() {
  static const std::string ops = embedded(gedit_builtin_ops, gedit_builtin_ops_end);
  return ops;
}

void Registry::add_builtin() { lists_.push_back({{}, builtin_ops, 1}); }

void Registry::add_release(uint32_t release) {
  lists_.push_back({{},
                    [release, ops = std::make_shared<std::string>()]() -> std::string_view {
                      return *ops = OpHistory::get().op_list(release);
                    },
                    1});
}

std::string_view Registry::find(std::string_view op) {
  // Lists are read one after the other and only as far as needed: the first that has the op decides.
  for (;;) {
    if (const auto found = ops_.find(op); found != ops_.end()) return found->second;
    if (read_ == lists_.size()) return {};
    const List& list = lists_[read_++];
    for (Fields fields(list.find ? list.find() : list.bytes); fields.next();) {
      if (!fields->bytes(1)) continue;
      const std::string_view op_def = list.kind == 1 ? fields->value : last_bytes(fields->value, 1);
      ops_.emplace(last_bytes(op_def, 1), op_def);  // the first one stays
    }
  }
}

}  // namespace gedit
