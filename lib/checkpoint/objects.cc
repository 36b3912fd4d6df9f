#include "checkpoint/objects.h"

#include <algorithm>

#include "base/error.h"
#include "base/wire.h"
#include "checkpoint/values.h"

namespace gedit {
namespace {

constexpr uint32_t kFullName = 2, kCheckpointKey = 3;  // SerializedTensor

ObjectGraph::Object parse_object(std::string_view bytes) {
  ObjectGraph::Object object;
  object.bytes = bytes;
  for (Fields fields(bytes); fields.next();) {
    if (fields->bytes(1)) {
      object.children.push_back(read_reference(fields->value));
    } else if (fields->bytes(2)) {
      object.attributes.push_back({.full_name = std::string(last_bytes(fields->value, kFullName)),
                                   .key = std::string(last_bytes(fields->value, kCheckpointKey)),
                                   .bytes = fields->value});
    } else if (fields->bytes(3)) {
      object.slots.push_back(read_slot(fields->value));
    } else {
      object.rest += fields->raw;
    }
  }
  return object;
}

std::string attribute_bytes(const ObjectGraph::Attribute& attribute) {
  return with_text(with_text(attribute.bytes, kFullName, attribute.full_name), kCheckpointKey, attribute.key);
}

std::string object_bytes(const ObjectGraph::Object& object) {
  std::string bytes;
  for (const auto& child : object.children)
    append_bytes_field(bytes, 1, reference_bytes(child, Written::kMended));
  for (const auto& attribute : object.attributes) append_bytes_field(bytes, 2, attribute_bytes(attribute));
  for (const auto& slot : object.slots) append_bytes_field(bytes, 3, slot_bytes(slot, Written::kMended));
  return bytes + object.rest;
}

}  // namespace

ObjectGraph parse_object_graph(std::string_view bytes) try {
  ObjectGraph graph;
  for (Fields fields(bytes); fields.next();) {
    if (fields->bytes(1)) {
      graph.objects.push_back(parse_object(fields->value));
    } else {
      graph.rest += fields->raw;
    }
  }
  if (const auto bad = find_bad_reference(graph.objects)) {
    throw Error(Cause::kInput,
                "names object " + std::to_string(bad->id) + " of " + std::to_string(graph.objects.size()))
        .of("object " + std::to_string(bad->object));
  }
  if (graph.objects.empty()) throw Error(Cause::kInput, "has no objects").of("object graph");
  return graph;
} catch (const Malformed& error) {
  throw Error(Cause::kInput, error.what()).of("object graph");
}

std::string object_graph_bytes(const ObjectGraph& graph) {
  std::string out;
  for (const ObjectGraph::Object& object : graph.objects) {
    if (object.changed) {
      append_bytes_field(out, 1, object_bytes(object));
    } else {
      append_bytes_field(out, 1, object.bytes);
    }
  }
  return out + graph.rest;
}

std::string_view object_path(std::string_view key) {
  const size_t attributes = key.find("/.ATTRIBUTES/");
  return key.substr(0, std::min(attributes, key.find("/.OPTIMIZER_SLOT/")));
}

std::string load_object_graph(const Checkpoint& checkpoint) {
  const Tensor* tensor = checkpoint.find(kObjectGraphKey);
  if (tensor == nullptr) throw Error(Cause::kRefused, "not object-based").in(checkpoint.prefix);
  if (tensor->dtype != DType::kString || !tensor->shape.empty()) {
    throw Error(Cause::kInput, "is not a string").of(tensor_subject(tensor->name)).in(checkpoint.prefix);
  }
  DataFiles files(checkpoint);
  const Bytes bytes = tensor_bytes(files, *tensor);
  return std::string(strings_of(1, bytes.view()).front());
}

void store_object_graph(Checkpoint& checkpoint, const std::string& bytes) {
  std::erase_if(checkpoint.tensors, [](const Tensor& tensor) { return tensor.name == kObjectGraphKey; });
  add_tensor(checkpoint, std::string(kObjectGraphKey), DType::kString, {}, string_bytes({bytes}));
  sort_tensors(checkpoint);
}

}  // namespace gedit
