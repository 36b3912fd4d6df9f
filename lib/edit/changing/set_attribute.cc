#include "edit/changing/set_attribute.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/message_edit.h"
#include "base/near.h"
#include "edit/basis/addresses.h"
#include "edit/basis/attributes.h"

namespace gedit {
namespace {

bool attr_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '-';
}

// SEL:NAME=VALUE or SEL:NAME, taken apart at the last `:NAME=` outside quotes, or `:NAME` at the end.
struct AttrStep {
  std::string selector, name;
  std::optional<std::string> value;  // as written
};
AttrStep parse_attr_step(const std::string& text) {
  size_t colon = std::string::npos, equals = std::string::npos;
  bool in_quotes = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (in_quotes && text[i] == '\\') {
      ++i;
      continue;
    }
    if (text[i] == '"') in_quotes = !in_quotes;
    if (in_quotes || text[i] != ':') continue;
    size_t end = i + 1;
    while (end < text.size() && attr_name_letter(text[end])) ++end;
    if (end == i + 1 || (end < text.size() && text[end] != '=')) continue;
    colon = i;
    equals = end;
  }
  if (colon == std::string::npos || colon == 0) throw misused(text, "is no SEL:NAME=VALUE, nor SEL:NAME");
  AttrStep step{text.substr(0, colon), text.substr(colon + 1, equals - colon - 1), std::nullopt};
  if (equals < text.size()) step.value = text.substr(equals + 1);
  return step;
}

// Attributes of an op that say nothing of the shape of what it gives.
bool says_no_shape(const AttrDef& attr) {
  static constexpr std::array<std::string_view, 15> kNames{
      "container",   "shared_name",         "use_locking", "message",      "frame_name",
      "is_constant", "parallel_iterations", "seed",        "seed2",        "swap_memory",
      "first_n",     "use_cudnn_on_gpu",    "summarize",   "config_proto", "executor_type"};
  return attr.type == "type" || attr.type == "float" || attr.type == "list(type)" ||
         std::find(kNames.begin(), kNames.end(), attr.name) != kNames.end();
}

void check_written_attr(const OpDef& op, const AttrDef* attr, const std::string& name, std::string_view value,
                        const std::string& node) {
  if (attr != nullptr) return check_attr_value(*attr, value);
  if (name.starts_with('_')) return;  // what is not the op's own, anybody may add
  throw no_such_attr(op, name).of(quoted("node", node) + " (" + printable(op.name) + ")");
}

// An attribute that is absent has its default.
bool other_meaning(const AttrDef& attr, std::optional<std::string_view> old,
                   const std::optional<std::string>& value) {
  const std::string_view before = old ? *old : attr.default_value;
  return before != (value ? std::string_view(*value) : attr.default_value);
}

}  // namespace

void set_attribute(Setting& setting, const std::string& text) {
  const AttrStep step = parse_attr_step(text);
  std::optional<std::string> value;
  if (step.value) value = parse_attr_text(*step.value);
  bool any = value.has_value();
  Near near(step.name);
  setting.each(setting.selecting.require(step.selector), [&](Graph& where, NodeId id,
                                                             const std::string& function) {
    const std::string_view node_def = where.bytes(id);
    const std::optional<std::string_view> old = find_attr(node_def, step.name);
    any = any || old.has_value();
    if (!any) each_attr(node_def, [&](std::string_view key, std::string_view) { near.offer(key); });
    if (!value && !old) return;
    const OpDef* op = setting.op_defs.find(node_op(node_def));
    const AttrDef* attr = op != nullptr ? op->find_attr(step.name) : nullptr;
    if (value && op != nullptr)
      check_written_attr(*op, attr, step.name, *value, address(function, node_name(node_def)));
    if (value && old == std::string_view(*value)) return;
    setting.say(function, node_name(node_def), step.name + (step.value ? ": " + *step.value : " removed"));
    if (attr != nullptr && !says_no_shape(*attr) && other_meaning(*attr, old, value))
      setting.mark_stale(where, function, id);
    setting.replace(
        where, id,
        with_attr(node_def, step.name, value ? std::optional<std::string_view>(*value) : std::nullopt));
  });
  if (!any) {
    throw refused("no node that it hits has " + quoted("attribute", step.name))
        .of(quoted("selector", step.selector))
        .hint(near.did_you_mean());
  }
}

}  // namespace gedit
