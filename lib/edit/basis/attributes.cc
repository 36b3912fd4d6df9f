#include "edit/basis/attributes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/near.h"
#include "graph/listing.h"
#include "graph/node.h"
#include "graph/scanner.h"

namespace gedit {
namespace {

// By field of AttrValue; a func has another number in a list.
constexpr std::array<std::string_view, 11> kKinds{"",     "list",  "string", "int", "float", "bool",
                                                  "type", "shape", "tensor", "",    "func"};

// The field that the value has set; nothing where it is unset or of a kind that nobody knows.
std::optional<Field> set_field(std::string_view value) {
  std::optional<Field> found;
  for (Fields fields(value); fields.next();) {
    if (fields->number < kKinds.size()) found = fields.field();
  }
  return found;
}

// `int`, `list(int)`; `list` for the empty list, empty for a placeholder and for what nobody knows.
std::string kind_of(std::string_view value) {
  const std::optional<Field> field = set_field(value);
  if (!field) return "";
  if (field->number != attr_field::kList) return std::string(kKinds[field->number]);
  for (Fields list(field->value); list.next();) {
    const uint32_t number = list->number == attr_field::kListFunc ? attr_field::kFunc : list->number;
    if (number < kKinds.size()) return "list(" + std::string(kKinds[number]) + ")";
  }
  return "list";
}

std::string printed(std::string_view value) {
  std::string text;
  print_attr_value(text, value, false);
  return printable(text);
}

// Strings and types in a value, which may be a list, as comparable bytes.
std::vector<std::string> choices(std::string_view value) {
  std::vector<std::string> found;
  const auto add = [&](const Field& field) {
    if (field.bytes(attr_field::kString)) found.emplace_back(field.value);
    if (field.number == attr_field::kType)
      each_varint(field, [&](uint64_t number) { found.push_back(std::to_string(number)); });
  };
  const std::optional<Field> field = set_field(value);
  if (!field) return found;
  if (field->number != attr_field::kList) {
    add(*field);
    return found;
  }
  for (Fields list(field->value); list.next();) add(list.field());
  return found;
}

}  // namespace

std::string parse_attr_text(std::string_view text) {
  try {
    Scanner scanner(text);
    std::string value = parse_attr_value(scanner);
    if (scanner.peek() != '\n' || !scanner.at_end()) scanner.fail_expected("the end of the value");
    return value;
  } catch (const Error& error) {
    std::string as_string;
    print_quoted(as_string, text);
    throw Error(Cause::kUsage, error.what())
        .of(quoted("value", text))
        .hint(is_bare(text) && !text.starts_with("DT_") ? "a string reads " + as_string : "");
  }
}

void check_attr_value(const AttrDef& attr, std::string_view value) {
  const std::string kind = kind_of(value);
  if (kind.empty()) return;
  const std::string name = quoted("attribute", attr.name);
  if (kind != attr.type && !(kind == "list" && attr.type.starts_with("list("))) {
    const std::string article = kind.starts_with("list") ? "" : kind == "int" ? "an " : "a ";
    throw Error(Cause::kRefused,
                name + " is " + printable(attr.type) + ", " + printed(value) + " is " + article + kind);
  }
  if (attr.allowed_values.empty()) return;
  const std::vector<std::string> allowed = choices(attr.allowed_values);
  for (const std::string& choice : choices(value)) {
    if (std::find(allowed.begin(), allowed.end(), choice) != allowed.end()) continue;
    throw Error(Cause::kRefused,
                name + " allows " + printed(attr.allowed_values) + ", not " + printed(value));
  }
}

Error no_such_attr(const OpDef& op, std::string_view name) {
  Near near(name);
  for (const AttrDef& attr : op.attrs) near.offer(attr.name);
  return Error(Cause::kRefused, "no " + quoted("attribute", name) + " in op " + printable(op.name))
      .hint(near.did_you_mean());
}

}  // namespace gedit
