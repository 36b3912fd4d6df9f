// Printing functions as a listing.
#include <list>
#include <vector>

#include "base/wire.h"
#include "graph/dtype.h"
#include "graph/listing.h"
#include "graph/listing_parts.h"

namespace gedit {
namespace {

// Everything of an ArgDef that the header of a function cannot hold goes to `rest`.
void print_arg(std::string& out, std::string_view arg, std::string& rest) {
  Field type;
  Field type_attr;
  Field number_attr;
  Field list_attr;
  Field reference;
  std::string_view name;
  for (Fields fields(arg); fields.next();) {
    const bool varint = fields->wire == Wire::kVarint;
    if (fields->bytes(1))
      name = fields->value;
    else if (fields->number == 3 && varint)
      type = fields.field();
    else if (fields->bytes(4))
      type_attr = fields.field();
    else if (fields->bytes(5))
      number_attr = fields.field();
    else if (fields->bytes(6))
      list_attr = fields.field();
    else if (fields->number == 16 && varint)
      reference = fields.field();
    else
      rest += fields->raw;
  }
  print_name(out, name);
  out += ": ";
  const bool has_type = static_cast<int32_t>(type.varint) != 0;
  const bool has_attr = !type_attr.value.empty();
  const bool has_number = !number_attr.value.empty();
  const bool has_list = !list_attr.value.empty();
  const bool typed = has_type != has_attr && !has_list;
  const bool empty = !has_type && !has_attr && !has_number && !has_list;
  const bool list = has_list && !has_type && !has_attr && !has_number;
  if (!typed && !empty && !list) {  // stays as it is
    out += "DT_INVALID";
    for (const Field& field : {type, type_attr, number_attr, list_attr, reference}) rest += field.raw;
    return;
  }
  if (has_number) {
    print_name(out, number_attr.value);
    out += '*';
  }
  if (list) {
    out += '*';
    print_name(out, list_attr.value);
  } else if (has_attr) {
    const bool like_dtype = parse_dtype(type_attr.value).has_value();
    if (like_dtype)
      print_quoted(out, type_attr.value);
    else
      print_name(out, type_attr.value);
  } else {
    print_dtype(out, type.varint);
  }
  if (reference.varint == 0) return;
  if (list || has_number) {
    rest += reference.raw;
  } else {
    out += '&';
  }
}

void print_args(std::string& out, const std::vector<std::string_view>& args, uint32_t number,
                std::string& rest) {
  out += '(';
  std::vector<std::string> extras(args.size());
  bool any = false;
  for (size_t i = 0; i < args.size(); ++i) {
    if (i > 0) out += ", ";
    std::string extra;
    print_arg(out, args[i], extra);
    if (!extra.empty()) extras[i] = normalized(TextMessage::kArgDef, extra);
    any = any || !extras[i].empty();
  }
  out += ')';
  if (!any) return;
  for (const std::string& extra : extras) append_bytes_field(rest, number, extra);  // by position
}

// `function NAME(...) -> (...)`; what else the signature holds goes to `rest`.
void print_signature(std::string& out, std::string_view signature, std::string& rest) {
  std::string_view name;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::string others;
  for (Fields fields(signature); fields.next();) {
    if (fields->bytes(1))
      name = fields->value;
    else if (fields->bytes(2))
      inputs.push_back(fields->value);
    else if (fields->bytes(3))
      outputs.push_back(fields->value);
    else
      others += fields->raw;
  }
  out += "function ";
  print_name(out, name);
  print_args(out, inputs, 2, rest);
  out += " -> ";
  print_args(out, outputs, 3, rest);
  if (!others.empty()) rest += normalized(TextMessage::kOpDef, others);
}

void print_return(std::string& out, StringMap& results, StringMap& controls) {
  out += "  return";
  std::string_view separator = " ";
  for (const MapEntry& entry : results.sorted()) {
    out += separator;
    print_name(out, entry.key);
    out += " = ";
    print_input(out, entry.value);
    separator = ", ";
  }
  for (const MapEntry& entry : controls.sorted()) {
    out += separator;
    out += '^';
    print_name(out, entry.key);
    out += " = ";
    print_input(out, entry.value);
    separator = ", ";
  }
  out += "\nend\n";
}

}  // namespace

bool print_function(std::string& out, std::string_view function, bool full) {
  std::list<std::string> kept;
  if (!has_field(function, 1)) return false;
  StringMap attrs;
  StringMap results;
  StringMap controls;
  std::string rest;
  for (Fields fields(function); fields.next();) {
    const Field& field = fields.field();
    if (field.bytes(4))
      results.add(field.value);
    else if (field.bytes(5))
      attrs.add(field.value);
    else if (field.bytes(6))
      controls.add(field.value);
    else if (!field.bytes(1) && !field.bytes(3))
      rest += field.raw;
  }
  std::string signature_rest;
  print_signature(out, merged(function, 1, kept), signature_rest);
  print_attrs(out, attrs, full, 0);
  if (!signature_rest.empty()) {
    std::string both;
    append_bytes_field(both, 1, signature_rest);
    rest.insert(0, both);
  }
  print_rest(out, TextMessage::kFunctionDef, rest);
  out += '\n';
  NodeLister nodes(full);
  for (Fields fields(function); fields.next();) {
    if (!fields->bytes(3)) continue;
    out += "  ";
    nodes.print(out, fields->value);
    out += '\n';
  }
  print_return(out, results, controls);
  return true;
}

}  // namespace gedit
