#include "checkpoint/rekey.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/near.h"
#include "checkpoint/list.h"
#include "checkpoint/object_edits.h"
#include "checkpoint/objects.h"
#include "checkpoint/values.h"

namespace gedit {
namespace {

constexpr std::string_view kSaveCounter = "save_counter";  // tf.train.Checkpoint's own
// A MutableHashTable is one attribute and two tensors (docs/tensorflow.md#object-graph).
constexpr std::array<std::string_view, 2> kTableParts{"-keys", "-values"};

// The value of an object: its key and what the graph calls it.
struct ObjectValue {
  std::string key, name;
};

// Each key once, in the order of the objects.
std::vector<ObjectValue> object_values(const ObjectGraph& graph) {
  std::vector<ObjectValue> values;
  std::set<std::string_view> seen;
  for (const ObjectGraph::Object& object : graph.objects) {
    for (const ObjectGraph::Attribute& attribute : object.attributes) {
      if (seen.insert(attribute.key).second) values.push_back({attribute.key, attribute.full_name});
    }
  }
  return values;
}

// The value that a person means: its key, or the path of its object.
ObjectValue& object_value_at(std::vector<ObjectValue>& values, const std::string& object,
                             const Checkpoint& of) {
  const auto found = std::find_if(values.begin(), values.end(), [&](const ObjectValue& value) {
    return value.key == object || object_path(value.key) == object;
  });
  if (found != values.end()) return *found;
  Near near(object);
  for (const ObjectValue& value : values) near.offer(object_path(value.key));
  throw refused("no such object").of(quoted("object", object)).in(of.prefix).hint(near.did_you_mean());
}

// Whether both are the same tensor, byte for byte.
bool same_value(const Checkpoint& of, DataFiles& files, const std::string& a, const std::string& b) {
  const Tensor *x = of.find(a), *y = of.find(b);
  if (x == nullptr || y == nullptr || x->dtype != y->dtype || x->shape != y->shape) return false;
  if (!x->partitioned() && !y->partitioned() && x->place.size != y->place.size) return false;
  return tensor_bytes(files, *x).view() == tensor_bytes(files, *y).view();
}

// Keys that only repeat the value of another one of the same name, as Keras' exports have each variable
// twice. Throws Error (kRefused) where two values have one name.
std::set<std::string, std::less<>> repeated_values(std::vector<ObjectValue> values, const Checkpoint& of,
                                                   bool to_objects) {
  std::erase_if(values, [](const ObjectValue& value) { return value.name.empty(); });
  std::sort(values.begin(), values.end(), [](const ObjectValue& a, const ObjectValue& b) {
    return std::tie(a.name, a.key) < std::tie(b.name, b.key);
  });
  std::set<std::string, std::less<>> repeated;
  DataFiles files(of);
  for (size_t i = 1; i < values.size(); ++i) {
    const ObjectValue &a = values[i - 1], &b = values[i];
    if (a.name != b.name) continue;
    if (same_value(of, files, a.key, b.key)) {
      repeated.insert(b.key);
      continue;
    }
    const std::string path(object_path(a.key));
    throw refused("so are called '" + printable(path) + "' and '" + printable(object_path(b.key)) + "'")
        .of(quoted("name", a.name))
        .in(of.prefix)
        .hint("--map " + (to_objects ? "NAME=" + printable(path) : printable(path) + "=NAME"));
  }
  return repeated;
}

// Calls use(key, name) for the tensors of a value: one, or a table's two.
template <typename There, typename Use>
bool each_tensor_of(const ObjectValue& value, There there, Use use) {
  if (there(value.key, value.name)) {
    use(value.key, value.name);
    return true;
  }
  const auto part = [](const std::string& stem, std::string_view end) { return stem + std::string(end); };
  for (const std::string_view end : kTableParts) {
    if (!there(part(value.key, end), part(value.name, end))) return false;
  }
  for (const std::string_view end : kTableParts) use(part(value.key, end), part(value.name, end));
  return true;
}

void require_like(const Tensor& tensor, const Tensor& wanted, const Checkpoint& in, const Checkpoint& like) {
  if (tensor.dtype == wanted.dtype && tensor.shape == wanted.shape) return;
  throw refused(dtype_name(tensor.dtype) + " " + shape_text(tensor.shape) + ", " + dtype_name(wanted.dtype) +
                " " + shape_text(wanted.shape) + " in " + printable(like.prefix))
      .of(tensor_subject(tensor.name))
      .in(in.prefix);
}

// The graph without the objects of these keys.
std::string graph_without(ObjectGraph& graph, const std::vector<std::string>& keys) {
  std::set<std::string, std::less<>> going;
  for (const std::string& key : keys) {
    going.insert(key);
    for (const std::string_view end : kTableParts) going.insert(key + std::string(end));
  }
  drop_keys(graph, going);
  return object_graph_bytes(graph);
}

}  // namespace

Checkpoint keyed_by_name(Checkpoint checkpoint, const ObjectNames& names, std::vector<std::string>& left_out,
                         KeyChanges* changes) {
  const std::string bytes = load_object_graph(checkpoint);
  const ObjectGraph graph = parse_object_graph(bytes);
  std::vector<ObjectValue> values = object_values(graph);
  for (const auto& [object, name] : names) object_value_at(values, object, checkpoint).name = name;
  const auto repeated = repeated_values(values, checkpoint, false);
  std::map<std::string, std::string, std::less<>> renamed;
  for (const ObjectValue& value : values) {
    if (value.name.empty() || repeated.contains(value.key)) continue;
    each_tensor_of(
        value, [&](const auto& key, const auto&) { return checkpoint.find(key) != nullptr; },
        [&](const auto& key, const auto& name) { renamed.emplace(key, name); });
  }
  std::vector<Tensor> kept;
  for (Tensor& tensor : checkpoint.tensors) {
    if (tensor.name == kObjectGraphKey) continue;
    const auto found = renamed.find(tensor.name);
    if (changes != nullptr) changes->push_back({tensor.name, found == renamed.end() ? "" : found->second});
    if (found == renamed.end()) {
      if (!repeated.contains(tensor.name)) left_out.push_back(std::move(tensor.name));
      continue;
    }
    tensor.name = found->second;
    kept.push_back(std::move(tensor));
  }
  checkpoint.tensors = std::move(kept);
  try {
    sort_tensors(checkpoint);
  } catch (const Error& error) {
    throw error.in(checkpoint.prefix);
  }
  return checkpoint;
}

KeyedByObject keyed_by_object(Checkpoint checkpoint, const Checkpoint& like, const ObjectNames& names,
                              KeyChanges* changes) {
  const std::string bytes = load_object_graph(like);
  ObjectGraph graph = parse_object_graph(bytes);
  std::vector<ObjectValue> values = object_values(graph);
  for (const auto& [name, object] : names) object_value_at(values, object, like).name = name;
  repeated_values(values, like, true);  // each gets the value of its name

  KeyedByObject result;
  std::vector<bool> used(checkpoint.tensors.size(), false);
  std::vector<Tensor> tensors;
  std::vector<std::string> from_like;
  const auto take = [&](const std::string& key, const std::string& name) {
    const Tensor* found = checkpoint.find(name);
    if (const Tensor* wanted = like.find(key)) require_like(*found, *wanted, checkpoint, like);
    used[static_cast<size_t>(found - checkpoint.tensors.data())] = true;
    if (changes != nullptr) changes->push_back({name, key});
    tensors.push_back(*found);
    tensors.back().name = key;
  };
  for (const ObjectValue& value : values) {
    const auto named = [&](const auto&, const auto& name) { return checkpoint.find(name) != nullptr; };
    if (!value.name.empty() && each_tensor_of(value, named, take)) continue;
    const bool own = value.name.empty() || object_path(value.key) == kSaveCounter;
    const auto there = [&](const auto& key, const auto&) { return like.find(key) != nullptr; };
    const auto keep = [&](const auto& key, const auto&) { from_like.push_back(key); };
    if (!own || !each_tensor_of(value, there, keep)) result.missing.push_back(value.key);
  }
  for (const auto& [name, object] : names) {
    if (checkpoint.find(name) == nullptr && checkpoint.find(name + std::string(kTableParts[0])) == nullptr)
      throw refused("no such tensor")
          .of(tensor_subject(name))
          .in(checkpoint.prefix)
          .hint(name_hint(checkpoint, name));
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) result.unexpected.push_back(checkpoint.tensors[i].name);
  }
  DataFiles files(like);
  checkpoint.tensors = std::move(tensors);
  for (const std::string& key : from_like) {
    const Tensor& tensor = *like.find(key);
    add_tensor(checkpoint, key, tensor.dtype, tensor.shape, tensor_bytes(files, tensor).view());
  }
  store_object_graph(checkpoint, result.missing.empty() ? bytes : graph_without(graph, result.missing));
  result.checkpoint = std::move(checkpoint);
  return result;
}

}  // namespace gedit
