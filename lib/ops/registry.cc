#include "ops/registry.h"

#include <algorithm>

#include "base/embedded.h"
#include "base/wire.h"

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

Registry::Ops Registry::read(const List& list) {
  Ops ops;
  for (Fields fields(list.find ? list.find() : list.bytes); fields.next();) {
    if (!fields->bytes(1)) continue;
    const std::string_view op_def = list.kind == 1 ? fields->value : last_bytes(fields->value, 1);
    ops.emplace_back(last_bytes(op_def, 1), op_def);
  }
  // The first one of a name stays. The built-in list is in order.
  const auto& name = &Ops::value_type::first;
  if (!std::ranges::is_sorted(ops, {}, name)) std::ranges::stable_sort(ops, {}, name);
  const auto same = [](const Ops::value_type& a, const Ops::value_type& b) { return a.first == b.first; };
  ops.erase(std::unique(ops.begin(), ops.end(), same), ops.end());
  return ops;
}

std::string_view Registry::known(std::string_view op, size_t lists) const {
  if (const auto found = defined_.find(op); found != defined_.end()) return found->second;
  for (size_t i = 0; i < lists; ++i) {
    const auto found = std::ranges::lower_bound(read_[i], op, {}, &Ops::value_type::first);
    if (found != read_[i].end() && found->first == op) return found->second;
  }
  return {};
}

std::string_view Registry::find(std::string_view op) {
  // Lists are read one after the other and only as far as needed: the first that has the op decides.
  std::string_view op_def = known(op, read_.size());
  while (op_def.data() == nullptr && read_.size() < lists_.size()) {
    read_.push_back(read(lists_[read_.size()]));
    op_def = known(op, read_.size());
  }
  return op_def;
}

}  // namespace gedit
