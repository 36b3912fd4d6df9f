#include "graph/mapping.h"

#include "base/message_edit.h"
#include "graph/colocation.h"
#include "graph/name_attr_list.h"

namespace gedit {
namespace {

// Bytes of an AttrValue.list of strings with `loc:@` entries mapped; false where no entry is left.
bool map_class(const NodeHead& head, std::string_view attr_value, const Mapping& mapping, std::string& out) {
  bool any = false;
  for (Fields fields(attr_value); fields.next();) {
    if (!fields->bytes(attr_field::kList)) {
      out += fields->raw;
      continue;
    }
    std::string list;
    for (Fields entries(fields->value); entries.next();) {
      const auto node = entries->bytes(attr_field::kString) ? colocated_with(entries->value) : std::nullopt;
      if (!node) {
        list += entries->raw;
        any = true;
        continue;
      }
      std::string entry(kColocatedWith);
      if (!mapping.colocation(head, *node, entry)) continue;
      append_bytes_field(list, attr_field::kString, entry);
      any = true;
    }
    append_bytes_field(out, attr_field::kList, list);
  }
  return any;
}

std::string map_string(const NodeHead& head, Role role, std::string_view attr_value, const Mapping& mapping) {
  std::string out;
  for (Fields fields(attr_value); fields.next();) {
    if (!fields->bytes(attr_field::kString)) {
      out += fields->raw;
      continue;
    }
    std::string text;
    mapping.identity(head, role, fields->value, text);
    append_bytes_field(out, attr_field::kString, text);
  }
  return out;
}

std::string map_instance_key(std::string_view attr_value, const Mapping& mapping) {
  std::string out;
  for (Fields fields(attr_value); fields.next();) {
    if (fields->number != attr_field::kInt || fields->wire != Wire::kVarint) {
      out += fields->raw;
      continue;
    }
    const int64_t key = mapping.instance_key(static_cast<int64_t>(fields->varint));
    append_varint_field(out, attr_field::kInt, static_cast<uint64_t>(key));
  }
  return out;
}

std::string map_function_list(std::string_view attr_value, const Mapping& mapping, int depth);

std::string map_name_attr_list(std::string_view func, const Mapping& mapping, int depth) {
  // Faults are told by their place in the file, so values come first.
  const std::string mapped = with_each_entry(func, 2, [&](std::string_view, std::string_view value) {
    return map_function_list(value, mapping, depth + 1);
  });
  return with_each_field(mapped, 1, [&](std::string_view function) {
    std::string name;
    mapping.function(function, name);
    return name;
  });
}

std::string map_function_list(std::string_view attr_value, const Mapping& mapping, int depth) {
  if (depth > kDeepest) throw Malformed(attr_value.data(), "attribute values nest too deep");
  return with_name_attr_lists(
      attr_value, [&](std::string_view list) { return map_name_attr_list(list, mapping, depth); });
}

// Writes a string field whose content `fill` appends: the length is patched in afterwards, for which one byte
// is enough nearly always.
template <typename Fill>
bool append_filled(std::string& out, uint32_t number, Fill fill) {
  const size_t start = out.size();
  append_tag(out, number, Wire::kBytes);
  out += '\0';
  const size_t content = out.size();
  if (!fill(out)) {
    out.resize(start);
    return false;
  }
  const size_t size = out.size() - content;
  if (size < 0x80) {
    out[content - 1] = static_cast<char>(size);
    return true;
  }
  std::string length;
  append_varint(length, size);
  out.replace(content - 1, 1, length);
  return true;
}

class NodeMapper {
 public:
  NodeMapper(std::string_view node_def, const Mapping& mapping, Pieces& out, NodeId id)
      : node_def_(node_def), mapping_(mapping), out_(out), device_(mapping.device(id)) {
    head_.id = id;
  }

  void run() {
    for (Fields fields(node_def_); fields.next();) {
      const Field& field = fields.field();
      if (field.wire != Wire::kBytes || field.number > node_field::kAttr) {
        before_attrs(field.number);
        out_.append(field.raw);
        continue;
      }
      switch (field.number) {
        case node_field::kName:
          head_.name = field.value;
          append_filled(out_.small(), node_field::kName, [&](std::string& out) {
            mapping_.node(field.value, out);
            return true;
          });
          break;
        case node_field::kOp:
          head_.op = field.value;
          op(field);
          break;
        case node_field::kInput:
          need_head();
          append_filled(out_.small(), node_field::kInput,
                        [&](std::string& out) { return mapping_.input(head_, field.value, out); });
          ++head_.slot;
          break;
        case node_field::kDevice:
          if (device_ == nullptr) out_.append(field.raw);
          break;
        default:
          before_attrs(field.number);
          attr(field);
      }
    }
    before_attrs(node_field::kAttr);
    need_head();
    mapping_.add(head_, node_def_, out_.small());
  }

 private:
  // What decides about an attribute may stand behind it in a file that TensorFlow did not write.
  void need_head() {
    if (!head_.op.empty() && !head_.name.empty()) return;
    const NodeHead head = node_head(node_def_);
    head_.name = head.name;
    head_.op = head.op;
    head_.device = head.device;
  }

  void op(const Field& field) {
    if (!mapping_.maps_functions()) return out_.append(field.raw);
    append_filled(out_.small(), node_field::kOp, [&](std::string& out) {
      mapping_.function(field.value, out);
      return true;
    });
  }

  void before_attrs(uint32_t number) {
    if (device_ == nullptr || number < node_field::kAttr) return;
    if (!device_->empty()) append_bytes_field(out_.small(), node_field::kDevice, *device_);
    device_ = &kNothing;  // once
  }

  void attr(const Field& field) {
    const MapEntry entry = map_entry(field.value);
    need_head();
    if (mapping_.drops(head_, entry.key)) return;
    std::string value;
    switch (const Role role = attr_role(head_.op, entry.key)) {
      case Role::kNone:
        if (!mapping_.maps_functions() || !may_name_function(entry.value)) return out_.append(field.raw);
        value = map_function_list(entry.value, mapping_, 0);
        break;
      case Role::kGradientType:
        if (!mapping_.maps_functions()) return out_.append(field.raw);
        value = map_string(head_, role, entry.value, mapping_);
        break;
      case Role::kColocation:
        if (!map_class(head_, entry.value, mapping_, value)) return;
        break;
      case Role::kInstanceKey:
        value = map_instance_key(entry.value, mapping_);
        break;
      default:
        value = map_string(head_, role, entry.value, mapping_);
    }
    if (value == entry.value) return out_.append(field.raw);
    std::string mapped;
    append_bytes_field(mapped, 1, entry.key);
    append_bytes_field(mapped, 2, value);
    append_bytes_field(out_.small(), node_field::kAttr, mapped);
  }

  static inline const std::string kNothing;

  std::string_view node_def_;
  const Mapping& mapping_;
  Pieces& out_;
  const std::string* device_;
  NodeHead head_;
};

}  // namespace

bool Mapping::input(const NodeHead& /*reader*/, std::string_view input, std::string& out) const {
  put_input(parse_input(input), out);
  return true;
}

void Mapping::put_input(const Input& input, std::string& out) const {
  if (input.control) out += '^';
  node(input.node, out);
  if (input.port.empty()) return;
  out += ':';
  out += input.port;
}

bool Mapping::colocation(const NodeHead& /*holder*/, std::string_view name, std::string& out) const {
  node(name, out);
  return true;
}

void Mapping::identity(const NodeHead& /*holder*/, Role /*role*/, std::string_view value,
                       std::string& out) const {
  out += value;
}

void Pieces::write(Sink& sink) const {
  size_t at = 0;
  for (const View& view : views_) {
    sink.write(std::string_view(small_).substr(at, view.at - at));
    sink.write(view.bytes);
    at = view.at;
  }
  sink.write(std::string_view(small_).substr(at));
}

void map_node(std::string_view node_def, const Mapping& mapping, Pieces& out, NodeId id) {
  if (const NodeParts parts = mapping.rewritten(id, node_def); size_of(parts) > 0) {
    for (const std::string_view part : parts) out.append(part);
    return;
  }
  NodeMapper(node_def, mapping, out, id).run();
}

std::string mapped_node(std::string_view node_def, const Mapping& mapping, NodeId id) {
  Pieces pieces;
  map_node(node_def, mapping, pieces, id);
  StringSink sink;
  pieces.write(sink);
  return std::move(sink.text);
}

std::string map_functions(std::string_view attr_value, const Mapping& mapping) {
  return map_function_list(attr_value, mapping, 0);
}

}  // namespace gedit
