#include "checkpoint/edit.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/near.h"
#include "checkpoint/object_edits.h"

namespace gedit {
namespace {

constexpr std::string_view kSlot = "/.OPTIMIZER_SLOT/";
constexpr std::string_view kValue = "/.ATTRIBUTES/VARIABLE_VALUE";

Error no_such(const Checkpoint& checkpoint, std::string_view name) {
  const bool scope = name.ends_with('/');
  return Error(Cause::kRefused, scope ? "matches nothing" : "no such tensor")
      .of(scope ? quoted("selector", name) : tensor_subject(name))
      .in(checkpoint.prefix)
      .hint(name_hint(checkpoint, name));
}

Error taken(const Checkpoint& checkpoint, std::string_view before, std::string_view after) {
  const std::string subject = "'" + printable(before) + "=" + printable(after) + "'";
  return Error(Cause::kRefused, "'" + printable(after) + "' is taken").of(subject).in(checkpoint.prefix);
}

void check_name(const Checkpoint& checkpoint, std::string_view before, std::string_view after) {
  if (!after.empty() && !is_slice_key(after)) return;
  const std::string subject = "'" + printable(before) + "=" + printable(after) + "'";
  throw Error(Cause::kRefused, "not a name for a tensor").of(subject).in(checkpoint.prefix);
}

// The new key in an object-based checkpoint: its object's path is renamed, and the path of the slot's
// optimizer.
std::string rename_object_key(const Renaming& renaming, std::string_view key) {
  const std::string_view path = object_path(key);
  if (path.size() == key.size()) return renaming.apply(key, true);
  if (renaming.names(key)) return renaming.apply(key);
  std::string renamed = renaming.apply(path, true);
  std::string_view rest = key.substr(path.size());
  if (rest.starts_with(kSlot)) {
    const std::string_view slot = object_path(rest.substr(kSlot.size()));
    renamed += kSlot;
    renamed += renaming.apply(slot, true);
    rest = rest.substr(kSlot.size() + slot.size());
  }
  return renamed + std::string(rest);
}

// Puts renamed tensors in order.
void reorder(Checkpoint& checkpoint, const std::vector<std::pair<uint32_t, std::string>>& old_names) {
  std::vector<Tensor>& tensors = checkpoint.tensors;
  std::vector<uint32_t> order = order_of(tensors);
  for (size_t i = 1; i < order.size(); ++i) {
    if (tensors[order[i - 1]].name != tensors[order[i]].name) continue;
    for (const uint32_t position : {order[i - 1], order[i]}) {
      const auto old = std::lower_bound(old_names.begin(), old_names.end(), position,
                                        [](const auto& entry, uint32_t p) { return entry.first < p; });
      if (old == old_names.end() || old->first != position) continue;
      throw taken(checkpoint, old->second, tensors[position].name).hint("rename that too");
    }
  }
  put_in_order(tensors, std::move(order));
}

}  // namespace

void rename_tensors(Checkpoint& checkpoint, Renaming& renaming, KeyChanges* changes) {
  std::optional<ObjectGraph> graph;
  std::string graph_bytes;
  if (checkpoint.object_based()) {
    graph_bytes = load_object_graph(checkpoint);
    graph = parse_object_graph(graph_bytes);
    settle_paths(*graph, renaming);
  }
  std::map<std::string, std::string, std::less<>> renamed;  // for the object graph
  std::vector<std::pair<uint32_t, std::string>> old_names;  // by position
  old_names.reserve(checkpoint.tensors.size());             // touched as far as it is filled
  bool sorted = true;
  for (size_t i = 0; i < checkpoint.tensors.size(); ++i) {
    Tensor& tensor = checkpoint.tensors[i];
    if (tensor.name != kObjectGraphKey) {
      std::string name = graph ? rename_object_key(renaming, tensor.name) : renaming.apply(tensor.name);
      if (name != tensor.name) {
        check_name(checkpoint, tensor.name, name);
        if (changes != nullptr) changes->push_back({tensor.name, name});
        if (graph) renamed.emplace(tensor.name, name);
        std::swap(tensor.name, name);
        old_names.emplace_back(static_cast<uint32_t>(i), std::move(name));
      }
    }
    sorted = sorted && (i == 0 || checkpoint.tensors[i - 1].name < tensor.name);
  }
  if (graph) {
    rename_objects(*graph, renaming);
    rename_keys(*graph, renamed);
  }
  if (const auto idle = renaming.idle()) {
    if (idle->expression) {
      throw Error(Cause::kRefused, "matches nothing")
          .of("'" + printable(idle->text) + "'")
          .in(checkpoint.prefix);
    }
    for (auto& [position, name] : old_names)
      checkpoint.tensors[position].name = std::move(name);  // for the hint
    throw no_such(checkpoint, idle->text);
  }
  if (!sorted) reorder(checkpoint, old_names);
  if (!graph) return;
  if (const std::string now = object_graph_bytes(*graph); now != graph_bytes)
    store_object_graph(checkpoint, now);
}

void copy_tensors(Checkpoint& checkpoint, const std::vector<NamePair>& pairs, KeyChanges* changes) {
  const bool objects = checkpoint.object_based();
  const auto first_from = [&](std::string_view name) {
    return std::lower_bound(checkpoint.tensors.begin(), checkpoint.tensors.end(), name,
                            [](const Tensor& tensor, std::string_view n) { return tensor.name < n; });
  };
  std::vector<Tensor> copies;
  const auto copy = [&](const Tensor& tensor, std::string name) {
    if (tensor.name == kObjectGraphKey) return;
    check_name(checkpoint, tensor.name, name);
    if (checkpoint.find(name) != nullptr) throw taken(checkpoint, tensor.name, name);
    if (changes != nullptr) changes->push_back({"", name});
    Tensor& made = copies.emplace_back(tensor);
    made.name = std::move(name);
  };
  for (const NamePair& pair : pairs) {
    const size_t before = copies.size();
    // An object is a scope.
    const bool scope = pair.scope || (objects && checkpoint.find(pair.from) == nullptr);
    if (!pair.from.empty()) {
      if (const Tensor* tensor = checkpoint.find(pair.from); tensor != nullptr && !pair.to.empty()) {
        copy(*tensor, pair.to);
      }
    }
    if (scope) {
      const std::string under = pair.from.empty() ? "" : pair.from + "/";
      for (auto at = first_from(under); at != checkpoint.tensors.end() && at->name.starts_with(under); ++at) {
        const std::string rest = at->name.substr(under.size());
        copy(*at, pair.to.empty() ? rest : pair.to + "/" + rest);
      }
    }
    if (copies.size() == before) throw no_such(checkpoint, pair.scope ? pair.from + "/" : pair.from);
  }
  for (Tensor& tensor : copies) checkpoint.tensors.push_back(std::move(tensor));
  sort_tensors(checkpoint);
  if (changes == nullptr) return;
  std::sort(changes->begin(), changes->end(),
            [](const KeyChange& a, const KeyChange& b) { return a.after < b.after; });
}

void drop_tensors(Checkpoint& checkpoint, const std::vector<bool>& selected, KeyChanges* changes) {
  std::set<std::string, std::less<>> keys;  // for the object graph
  const bool objects = checkpoint.object_based();
  std::vector<Tensor>& tensors = checkpoint.tensors;
  size_t kept = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (selected[i] && tensors[i].name != kObjectGraphKey) {
      if (changes != nullptr) changes->push_back({tensors[i].name, ""});
      if (objects) keys.insert(std::move(tensors[i].name));
    } else {
      if (kept != i) tensors[kept] = std::move(tensors[i]);
      ++kept;
    }
  }
  const bool nothing = kept == tensors.size();
  tensors.resize(kept);
  if (nothing && objects && std::find(selected.begin(), selected.end(), true) != selected.end()) {
    throw Error(Cause::kRefused, "says which objects the other tensors belong to, and stays with them")
        .of(tensor_subject(kObjectGraphKey))
        .in(checkpoint.prefix);
  }
  if (keys.empty()) return;
  const std::string bytes = load_object_graph(checkpoint);
  ObjectGraph graph = parse_object_graph(bytes);
  try {
    drop_keys(graph, keys);
  } catch (const Error& error) {
    throw error.in(checkpoint.prefix);
  }
  if (const std::string now = object_graph_bytes(graph); now != bytes) store_object_graph(checkpoint, now);
}

uint64_t referenced_bytes(const Checkpoint& checkpoint) {
  std::vector<Place> places;
  places.reserve(checkpoint.tensors.size());
  uint64_t sum = 0;
  for (const Tensor& tensor : checkpoint.tensors) {
    if (in_table(checkpoint, tensor.partitioned() ? tensor.slices.front().place : tensor.place)) {
      sum += stored_size(checkpoint, tensor).value_or(0);
      continue;
    }
    if (!tensor.partitioned()) places.push_back(tensor.place);
    for (const Slice& slice : tensor.slices) places.push_back(slice.place);
  }
  if (!std::is_sorted(places.begin(), places.end())) std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  for (const Place& place : places) sum += place.size;
  return sum;
}

std::string name_hint(const Checkpoint& checkpoint, std::string_view name) {
  Near near(name);
  if (name.ends_with('/')) {
    for (const Tensor& tensor : checkpoint.tensors) {
      for (size_t i = tensor.name.find('/'); i != std::string::npos; i = tensor.name.find('/', i + 1)) {
        near.offer(std::string_view(tensor.name).substr(0, i + 1));
      }
    }
    return near.did_you_mean();
  }
  const std::string slash = std::string(name) + "/";
  for (const Tensor& tensor : checkpoint.tensors) {
    if (tensor.name.starts_with(slash)) return "'" + printable(slash) + "' is a scope";
    near.offer(tensor.name);
    if (const auto path = object_path(tensor.name); path.size() != tensor.name.size()) near.offer(path);
  }
  return near.did_you_mean();
}

const Tensor& require_tensor(const Checkpoint& checkpoint, std::string_view name) {
  if (const Tensor* tensor = checkpoint.find(name)) return *tensor;
  if (const Tensor* tensor = checkpoint.find(std::string(name) + std::string(kValue))) return *tensor;
  if (name.ends_with(":0")) {  // the tensor of the variable
    if (const Tensor* tensor = checkpoint.find(name.substr(0, name.size() - 2))) return *tensor;
  }
  throw no_such(checkpoint, name);
}

}  // namespace gedit
