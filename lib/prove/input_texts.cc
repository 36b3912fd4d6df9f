#include "prove/input_texts.h"

#include "base/map_entry.h"
#include "graph/alike.h"
#include "graph/node_front.h"

namespace gedit {
namespace {

bool tells_value(std::string_view key) { return !key.starts_with('_') || key == "_kernel"; }

}  // namespace

bool InputTexts::read(std::string_view node_def) {
  inputs.clear();
  data = begin = end = 0;
  bool right = true;
  const size_t front = each_before_attrs(node_def, [&](uint32_t number, std::string_view value) {
    if (number <= node_field::kInput) end = static_cast<size_t>(value.end() - node_def.data());
    if (number < node_field::kInput) begin = end;
    if (number == node_field::kInput) right = add(value) && right;
  });
  attrs = node_def.substr(front);
  return right;
}

bool InputTexts::read_short(std::string_view node_def) {
  constexpr size_t kLongest = 16 << 10;
  return node_def.size() <= kLongest && read(node_def);
}

bool InputTexts::read_alike(std::string_view node_def, std::string_view other, const InputTexts& texts) {
  constexpr char kInputTag = node_field::kInput << 3 | 2;
  const std::string_view behind = other.substr(texts.end);
  if (node_def.size() < texts.begin + behind.size() || !node_def.starts_with(other.substr(0, texts.begin)) ||
      !node_def.ends_with(behind))
    return false;
  inputs.clear();
  data = 0;
  const size_t stop = node_def.size() - behind.size();
  for (size_t at = texts.begin; at < stop;) {
    if (stop - at < 3 || node_def[at] != kInputTag) return false;
    size_t size = static_cast<unsigned char>(node_def[at + 1]);
    at += 2;
    if (size >= 0x80) {
      const auto more = static_cast<unsigned char>(node_def[at++]);
      if (more >= 0x80) return false;
      size = (size & 0x7f) | size_t{more} << 7;
    }
    if (size > stop - at || !add(node_def.substr(at, size))) return false;
    at += size;
  }
  return true;
}

bool InputTexts::add(std::string_view input) {
  const bool control = input.starts_with('^');
  if (!control && data != inputs.size()) return false;
  data += control ? 0 : 1;
  inputs.push_back(input);
  return true;
}

std::string_view attrs_of(std::string_view node_def) {
  return attrs_from(node_def.data() + each_before_attrs(node_def, [](uint32_t, std::string_view) {}),
                    node_def);
}

bool alike_attributes(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const auto next = [](Fields& fields, MapEntry& entry) {
    while (fields.next()) {
      if (!fields->bytes(node_field::kAttr)) continue;
      entry = map_entry(fields->value);
      if (tells_value(entry.key)) return true;
    }
    return false;
  };
  Fields fields_a(a), fields_b(b);
  for (MapEntry entry_a, entry_b;;) {
    const bool more = next(fields_a, entry_a);
    if (next(fields_b, entry_b) != more) return false;
    if (!more) return true;
    if (entry_a.key != entry_b.key || entry_a.value != entry_b.value) return false;
  }
}

}  // namespace gedit
