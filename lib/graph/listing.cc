// Printing nodes and attribute values as a listing.
#include "graph/listing.h"

#include <algorithm>
#include <vector>

#include "base/packed.h"
#include "base/utf8.h"
#include "base/wire.h"
#include "graph/alike.h"
#include "graph/listing_parts.h"
#include "graph/numbers.h"

namespace gedit {
namespace {

bool try_value(std::string& out, std::string_view value, bool full, int depth);

bool digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Whether a device may stand without quotes.
bool bare_device(std::string_view device) {
  return valid_utf8(device) && std::ranges::none_of(device, [](char c) {
           return (c >= 0 && c <= ' ') || c == '{' || c == '#' || c == '"' || c == '\\' || c == 0x7f;
         });
}

bool print_dim(std::string& out, std::string_view dim) {
  int64_t size = 0;
  std::string_view name;
  for (Fields fields(dim); fields.next();) {
    if (fields->number == 1 && fields->wire == Wire::kVarint) {
      size = static_cast<int64_t>(fields->varint);
    } else if (fields->bytes(2)) {
      name = fields->value;
    } else {
      return false;
    }
  }
  if (!name.empty()) {
    print_quoted(out, name);
    out += '=';
  }
  if (size == -1) {
    out += '?';
  } else {
    print_int(out, size);
  }
  return true;
}

bool shape_in_brackets(std::string& out, std::string_view shape) {
  bool unknown = false;
  size_t dims = 0;
  out += '[';
  for (Fields fields(shape); fields.next();) {
    if (fields->bytes(2)) {
      if (dims++ > 0) out += ',';
      if (!print_dim(out, fields->value)) return false;
    } else if (fields->number == 3 && fields->wire == Wire::kVarint) {
      unknown = fields->varint != 0;
    } else {
      return false;
    }
  }
  if (unknown && dims > 0) return false;
  out += unknown ? "*]" : "]";
  return true;
}

bool try_func(std::string& out, std::string_view func, bool full, int depth) {
  std::string_view name;
  StringMap attrs;
  for (Fields fields(func); fields.next();) {
    if (fields->bytes(1)) {
      name = fields->value;
    } else if (fields->bytes(2)) {
      attrs.add(fields->value);
    } else {
      return false;
    }
  }
  out += "func ";
  print_name(out, name);
  print_attrs(out, attrs, full, depth + 1);
  return true;
}

// A number of the kind that field `kind` of AttrValue is.
void print_number(std::string& out, uint32_t kind, uint64_t value) {
  if (kind == 3) return print_int(out, static_cast<int64_t>(value));
  if (kind == 4) return print_float32(out, static_cast<uint32_t>(value));
  if (kind == 6) return print_dtype(out, value);
  out += value != 0 ? "true" : "false";
}

// A list's items are of the kinds of AttrValue's own fields, under the same numbers.
bool try_item(std::string& out, const Field& field, bool full, int depth) {
  switch (field.number) {
    case 2:
      print_quoted(out, field.value);
      return true;
    case 3:
    case 5:
    case 6:
      print_number(out, field.number, field.varint);
      return true;
    case 4:
      print_number(out, field.number, little_endian(field.value));
      return true;
    case 7:
      return print_shape(out, field.value);
    case 8:
      print_tensor(out, field.value, full);
      return true;
    default:
      return try_func(out, field.value, full, depth);
  }
}

Wire item_wire(uint32_t number) {
  if (number == 3 || number == 5 || number == 6) return Wire::kVarint;
  return number == 4 ? Wire::kFixed32 : Wire::kBytes;
}

bool try_list(std::string& out, std::string_view list, bool full, int depth) {
  out += "list(";
  const size_t start = out.size();
  uint32_t kind = 0;
  for (Fields fields(list); fields.next();) {
    const uint32_t number = fields->number;
    if (number < 2 || number > 9 || (kind != 0 && kind != number)) return false;
    kind = number;
    const std::string_view separator = number == 3 ? "," : ", ";
    if (fields->wire == item_wire(number)) {
      if (out.size() > start) out += separator;
      if (!try_item(out, fields.field(), full, depth + 1)) return false;
    } else if (fields->wire == Wire::kBytes) {  // packed
      for (Packed numbers(fields->value, item_wire(number)); numbers.next();) {
        if (out.size() > start) out += separator;
        print_number(out, number, numbers.value());
      }
    } else {
      return false;
    }
  }
  out += ')';
  return true;
}

// False, with something appended, where only raw bytes will do.
bool try_value(std::string& out, std::string_view value, bool full, int depth) {
  if (depth > kDeepestValue) return false;
  Field only;
  size_t count = 0;
  for (Fields fields(value); fields.next(); ++count) only = fields.field();
  if (count == 0) {
    out += "unset";
    return true;
  }
  if (count > 1) return false;
  if (only.bytes(1)) return try_list(out, only.value, full, depth);
  if (only.bytes(9)) {
    out += "placeholder ";
    print_quoted(out, only.value);
    return true;
  }
  if (only.bytes(10)) return try_func(out, only.value, full, depth);
  if (only.number < 2 || only.number > 8 || only.wire != item_wire(only.number)) return false;
  return try_item(out, only, full, depth);
}

}  // namespace

void print_dtype(std::string& out, uint64_t number) {
  out += dtype_word(static_cast<DType>(static_cast<int32_t>(number)));
}

void print_attrs(std::string& out, StringMap& attrs, bool full, int depth) {
  if (attrs.empty()) return;
  out += " {";
  bool first = true;
  for (const MapEntry& entry : attrs.sorted()) {
    if (!first) out += ", ";
    first = false;
    print_name(out, entry.key);
    out += ": ";
    const size_t start = out.size();
    if (try_value(out, entry.value, full, depth)) continue;
    out.resize(start);
    out += "raw ";
    print_quoted(out, entry.value);
  }
  out += '}';
}

void print_rest(std::string& out, TextMessage type, std::string_view rest) {
  if (rest.empty()) return;
  const size_t start = out.size();
  out += " | ";
  print_text(out, type, rest);
  if (out.size() == start + 3) out.resize(start);  // nothing but defaults
}

void print_input(std::string& out, std::string_view input) {
  if (input.starts_with('^')) {
    out += '^';
    input.remove_prefix(1);
  }
  const size_t first = input.find(':');
  if (first == std::string_view::npos) return print_name(out, input);
  std::string_view port = input.substr(first + 1);
  const size_t second = port.find(':');
  const bool named = second != std::string_view::npos;
  const bool right =
      named ? is_bare(port.substr(0, second)) && digits(port.substr(second + 1)) : digits(port);
  if (right && is_bare(input.substr(0, first))) {
    out += input;
  } else {
    print_quoted(out, input);
  }
}

bool print_shape(std::string& out, std::string_view shape) {
  const size_t start = out.size();
  if (shape_in_brackets(out, shape)) return true;
  out.resize(start);
  return false;
}

void print_attr_value(std::string& out, std::string_view value, bool full) {
  const size_t start = out.size();
  if (try_value(out, value, full, 0)) return;
  out.resize(start);
  out += "raw ";
  print_quoted(out, value);
}

namespace {

// What is printed of a node in front of its attributes.
struct NodeFront {
  std::string_view name, op, device;
  std::string_view inputs;  // from the first one on; what else lies there is passed over
  size_t input_count = 0;

  // Whether the field is one of these.
  bool take(const Field& field, std::string_view node) {
    if (field.bytes(1)) {
      name = field.value;
    } else if (field.bytes(2)) {
      op = field.value;
    } else if (field.bytes(3)) {
      if (input_count++ == 0) inputs = {field.raw.begin(), node.end()};
    } else if (field.bytes(4)) {
      device = field.value;
    } else {
      return false;
    }
    return true;
  }

  void print(std::string& out) const {
    print_name(out, name);
    out += " = ";
    print_name(out, op);
    out += '(';
    Fields fields(inputs);
    for (size_t told = 0; told < input_count && fields.next();) {
      if (!fields->bytes(3)) continue;
      if (told++ > 0) out += ", ";
      print_input(out, fields->value);
    }
    out += ')';
    if (device.empty()) return;
    out += " @ ";
    if (bare_device(device))
      out += device;
    else
      print_quoted(out, device);
  }
};

// Attributes, and what is no field of a NodeFront.
void print_behind(std::string& out, StringMap& attrs, std::string_view rest, bool full) {
  print_attrs(out, attrs, full, 0);
  print_rest(out, TextMessage::kNodeDef, rest);
}

}  // namespace

void print_node(std::string& out, std::string_view node, bool full) {
  NodeFront front;
  StringMap attrs;
  std::string rest;
  for (Fields fields(node); fields.next();) {
    if (fields->bytes(5)) {
      attrs.add(fields->value);
    } else if (!front.take(fields.field(), node)) {
      rest += fields->raw;
    }
  }
  front.print(out);
  print_behind(out, attrs, rest, full);
}

void NodeLister::print(std::string& out, std::string_view node) {
  NodeFront front;
  Fields fields(node);
  bool more = fields.next();
  while (more && front.take(fields.field(), node)) more = fields.next();
  const std::string_view attrs =
      more && fields->bytes(5) ? attrs_from(fields->raw.data(), node) : std::string_view();
  if (attrs.empty()) return print_node(out, node, full_);
  Known& known = known_[(attrs.size() * 31 + front.op.size() * 7) % known_.size()];
  if (known.attrs != attrs) {
    StringMap entries;
    std::string rest;
    do {
      if (fields->bytes(5)) {
        entries.add(fields->value);
      } else if (front.take(fields.field(), node)) {
        return print_node(out, node, full_);  // its text follows from more than these bytes
      } else {
        rest += fields->raw;
      }
    } while (fields.next());
    known.attrs = attrs;
    known.text.clear();
    print_behind(known.text, entries, rest, full_);
  }
  front.print(out);
  out += known.text;
}

}  // namespace gedit
