#include "edit/functions/function_def.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "base/first_free.h"
#include "base/map_entry.h"
#include "base/message_edit.h"

namespace gedit {
namespace {

std::string with_value_type(std::string_view arg_def, DType dtype) {
  std::string out;
  for (Fields fields(arg_def); fields.next();) {
    if (fields->number == op_def_field::kArgType) {
      append_varint_field(out, op_def_field::kArgType, static_cast<uint64_t>(dtype));
    } else if (fields->number != op_def_field::kArgHandleData &&
               fields->number != op_def_field::kArgFullType) {
      out += fields->raw;
    }
  }
  return out;
}

// ArgAttrs of a value that was a handle.
std::string without_handle(std::string_view arg_attrs) {
  std::string out;
  for (Fields fields(arg_attrs); fields.next();) {
    const std::string_view key = fields->bytes(1) ? map_entry(fields->value).key : std::string_view();
    if (key == "_output_shapes" || key.starts_with("_handle") || key == "_resource_arg_unique_id") continue;
    out += fields->raw;
  }
  return out;
}

// The entry of a map from the number of an argument under another one.
std::string with_number(std::string_view entry, uint64_t number) {
  std::string out;
  if (number != 0) append_varint_field(out, 1, number);
  for (Fields fields(entry); fields.next();) {
    if (fields->number != 1) out += fields->raw;
  }
  return out;
}

template <typename Item>
void reorder(std::vector<Item>& items, const std::vector<size_t>& order) {
  if (items.size() < order.size()) return;
  std::vector<Item> ordered;
  for (const size_t from : order) ordered.push_back(items[from]);
  std::move(ordered.begin(), ordered.end(), items.begin());
}

}  // namespace

FunctionDef::Return::Return(std::string_view entry) : bytes(entry) {
  const MapEntry parts = map_entry(entry);
  key = parts.key;
  value = parts.value;
}

FunctionDef::Return::Return(std::string_view new_key, std::string_view new_value)
    : key(new_key), value(new_value), bytes(map_entry_bytes(new_key, new_value)) {}

FunctionDef::FunctionDef(Graph& body) : body_(body) {
  body_.decode();
  for (Fields fields(function_signature(body_)); fields.next();) {
    if (fields->bytes(op_def_field::kName)) name_ = fields->value;
    if (fields->bytes(op_def_field::kInput)) {
      Argument& argument = arguments_.emplace_back();
      argument.def = fields->value;
      argument.was = argument.shape_of = count_++;
    }
    if (fields->bytes(op_def_field::kOutput)) outputs_.emplace_back(fields->value);
    if (fields->bytes(op_def_field::kControlOutput)) control_outputs_.emplace_back(fields->value);
  }
  for (const std::string& entry : contents_of(function_field::kRet)) returns_.emplace_back(entry);
  for (const std::string& entry : contents_of(function_field::kControlRet))
    control_returns_.emplace_back(entry);
  attributes_ = contents_of(function_field::kAttr);
  arg_attrs_ = contents_of(function_field::kArgAttr);
  unique_ids_ = contents_of(function_field::kUniqueId);
}

std::vector<std::string> FunctionDef::bytes_of(const std::vector<Return>& returns) {
  std::vector<std::string> entries;
  for (const Return& one : returns) entries.push_back(one.bytes);
  return entries;
}

std::vector<std::string> FunctionDef::contents_of(uint32_t field) const {
  std::vector<std::string> contents;
  for (const Part& part : body_.parts()) {
    if (part.field == field) contents.emplace_back(record_at(part.raw.data()).node_def);
  }
  return contents;
}

void FunctionDef::add_argument(std::string arg_def, std::string_view attrs) {
  Argument& argument = arguments_.emplace_back();
  argument.def = std::move(arg_def);
  argument.attrs = attrs;
}

void FunctionDef::add_argument_like(size_t like, std::string_view name) {
  Argument argument = arguments_[like];
  argument.def = with_fields(argument.def, op_def_field::kArgName, {std::string(name)});
  argument.was = kNew;
  argument.attrs.clear();
  arguments_.push_back(std::move(argument));
}

void FunctionDef::remove_arguments(const std::vector<bool>& removed) {
  std::vector<Argument> left;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (i >= removed.size() || !removed[i]) left.push_back(std::move(arguments_[i]));
  }
  arguments_ = std::move(left);
}

void FunctionDef::reorder_arguments(const std::vector<size_t>& order) { reorder(arguments_, order); }

void FunctionDef::reorder_outputs(const std::vector<size_t>& order) { reorder(outputs_, order); }

void FunctionDef::make_argument_value(size_t number, DType dtype, const Shape& shape) {
  Argument& argument = arguments_[number];
  argument.def = with_value_type(argument.def, dtype);
  argument.value = true;
  argument.shape = shape_proto(shape);
}

void FunctionDef::make_output_value(size_t number, DType dtype) {
  outputs_[number] = with_value_type(outputs_[number], dtype);
}

void FunctionDef::add_output(std::string arg_def, std::string_view source) {
  returns_.emplace_back(last_bytes(arg_def, op_def_field::kArgName), source);
  outputs_.push_back(std::move(arg_def));
}

void FunctionDef::map_returns(const std::function<std::string(std::string_view, std::string_view)>& use) {
  for (Return& one : returns_) {
    std::string source = use(one.key, one.value);
    if (source != one.value) one = Return(std::string(one.key), source);
  }
}

void FunctionDef::add_control_output(std::string_view name, std::string_view node) {
  control_outputs_.emplace_back(name);
  control_returns_.emplace_back(name, node);
}

void FunctionDef::add_control_outputs(const std::function<std::vector<std::string>(std::string_view)>& use) {
  std::vector<Return> all;
  std::unordered_set<std::string> names(control_outputs_.begin(), control_outputs_.end());
  for (const Return& one : control_returns_) names.insert(one.key);
  FreeNames free_names;
  for (Return& one : control_returns_) {
    const std::vector<std::string> nodes = use(one.value);
    all.push_back(std::move(one));
    for (const std::string& node : nodes) {
      // A node that was renamed is waited for under the name that it had.
      std::string name =
          free_names.first(node, [&](const std::string& taken) { return names.contains(taken); });
      all.emplace_back(name, node);
      control_outputs_.push_back(name);
      names.insert(std::move(name));
    }
  }
  control_returns_ = std::move(all);
}

void FunctionDef::remove_control_outputs(const std::function<bool(std::string_view)>& use) {
  std::unordered_set<std::string> gone;
  std::erase_if(control_returns_, [&](const Return& one) {
    const bool goes = use(one.value);
    if (goes) gone.insert(one.key);
    return goes;
  });
  std::erase_if(control_outputs_, [&](const std::string& name) { return gone.contains(name); });
}

void FunctionDef::remove_alternatives() {
  // core/grappler/optimizers/implementation_selector.cc, core/common_runtime/function_utils.cc
  static constexpr std::array<std::string_view, 4> kAttrs{"api_implements", "api_preferred_device",
                                                          "forward_function_name", "backward_function_name"};
  std::erase_if(attributes_, [](const std::string& entry) {
    return std::find(kAttrs.begin(), kAttrs.end(), map_key(entry)) != kAttrs.end();
  });
}

std::string FunctionDef::signature() const {
  std::vector<std::string> inputs;
  for (const Argument& argument : arguments_) inputs.push_back(argument.def);
  std::string out(function_signature(body_));
  if (last_bytes(out, op_def_field::kName) != name_) out = with_fields(out, op_def_field::kName, {name_});
  out = with_fields(out, op_def_field::kInput, inputs);
  out = with_fields(out, op_def_field::kOutput, outputs_);
  if (stateful_ && last_varint(out, op_def_field::kStateful) == 0)
    append_varint_field(out, op_def_field::kStateful, 1);
  return with_fields(out, op_def_field::kControlOutput, control_outputs_);
}

template <typename Change>
std::vector<std::string> FunctionDef::numbered(const std::vector<std::string>& entries, Change change) const {
  std::vector<size_t> now(count_, kNew);  // by number in the file
  bool moved = false;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].was != kNew) now[arguments_[i].was] = i;
  }
  for (size_t i = 0; i < count_; ++i) moved = moved || now[i] != i;
  std::vector<std::string> found;
  for (const std::string& entry : entries) {
    const uint64_t was = last_varint(entry, 1);
    if (was < count_ && now[was] == kNew) continue;
    const uint64_t number = was < count_ ? now[was] : was + arguments_.size() - count_;
    if (was < count_ && arguments_[number].value) {
      if (std::string changed = change(entry); !changed.empty())
        found.push_back(with_number(changed, number));
    } else {
      found.push_back(moved ? with_number(entry, number) : entry);
    }
  }
  return found;
}

std::string FunctionDef::with_shapes(std::string_view attr_value) const {
  return with_each_field(attr_value, attr_field::kList, [&](std::string_view list) {
    const std::vector<std::string> shapes = bytes_fields(list, attr_field::kShape);
    std::vector<std::string> now;
    for (const Argument& argument : arguments_) {
      if (argument.shape_of >= shapes.size()) continue;
      now.push_back(argument.value ? argument.shape : shapes[argument.shape_of]);
    }
    for (size_t i = count_; i < shapes.size(); ++i) now.push_back(shapes[i]);
    return with_fields(list, attr_field::kShape, now);
  });
}

void FunctionDef::store_field(uint32_t field, const std::vector<std::string>& contents) {
  if (contents != contents_of(field)) body_.set_parts(field, contents);
}

// Returns that are only added go behind all else, which stays as it lies there.
void FunctionDef::store_returns() {
  const std::vector<std::string> now = bytes_of(returns_), was = contents_of(function_field::kRet);
  if (now.size() < was.size() || !std::equal(was.begin(), was.end(), now.begin()))
    return body_.set_parts(function_field::kRet, now);
  for (size_t i = was.size(); i < now.size(); ++i)
    body_.add_part({function_field::kRet, body_.arena()->keep(bytes_field(function_field::kRet, now[i]))});
}

void FunctionDef::store() {
  if (std::string now = signature(); now != function_signature(body_))
    body_.set_part(function_field::kSignature, std::move(now));
  store_returns();
  std::vector<std::string> attributes = attributes_;
  for (std::string& entry : attributes) {
    if (map_key(entry) == "_input_shapes")
      entry = with_each_field(entry, 2, [&](std::string_view value) { return with_shapes(value); });
  }
  store_field(function_field::kAttr, attributes);
  store_field(function_field::kControlRet, bytes_of(control_returns_));
  std::vector<std::string> arg_attrs = numbered(arg_attrs_, [](std::string_view entry) {
    return with_each_field(entry, 2, [](std::string_view attrs) { return without_handle(attrs); });
  });
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].attrs.empty()) continue;
    std::string entry;
    append_varint_field(entry, 1, i);
    append_bytes_field(entry, 2, arguments_[i].attrs);
    arg_attrs.push_back(std::move(entry));
  }
  store_field(function_field::kArgAttr, arg_attrs);
  store_field(function_field::kUniqueId,
              numbered(unique_ids_, [](std::string_view) { return std::string(); }));
}

std::string FunctionDef::encode() {
  store();
  StringSink sink;
  body_.write(sink);
  return std::move(sink.text);
}

std::string arg_def(std::string_view name, DType type) {
  std::string def;
  append_bytes_field(def, op_def_field::kArgName, name);
  append_varint_field(def, op_def_field::kArgType, static_cast<uint64_t>(type));
  return def;
}

std::string with_function_name(std::string_view function_def, std::string_view name) {
  return with_each_field(function_def, function_field::kSignature, [&](std::string_view signature) {
    return with_each_field(signature, op_def_field::kName,
                           [&](std::string_view) { return std::string(name); });
  });
}

std::string free_function_name(Library& library, Registry& ops, std::string_view base,
                               const std::unordered_set<std::string>& promised) {
  return first_free(base, [&](const std::string& name) {
    return library.find(name) != nullptr || promised.contains(name) || !ops.find(name).empty();
  });
}

std::string argument_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    name += upper ? static_cast<char>(c - 'A' + 'a') : plain ? c : '_';
  }
  if (name.empty() || name[0] < 'a' || name[0] > 'z') name.insert(0, "t_");
  return name;
}

}  // namespace gedit
