#include "checkpoint/objects.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "base/wire.h"
#include "checkpoint/values.h"

namespace gedit {
namespace {

constexpr size_t kMostPathBytes = size_t{64} << 20;

// The message with field `number` replaced where it stands (at the end where it is not there).
std::string with_varint(std::string_view message, uint32_t number, uint64_t value) {
  std::string out;
  bool done = false;
  for (Fields fields(message); fields.next();) {
    if (fields->number != number) {
      out += fields->raw;
    } else if (!done) {
      append_varint_field(out, number, value);
      done = true;
    }
  }
  if (!done) append_varint_field(out, number, value);
  return out;
}

std::string with_bytes(std::string_view message, uint32_t number, std::string_view value) {
  std::string out;
  bool done = false;
  for (Fields fields(message); fields.next();) {
    if (fields->number != number) {
      out += fields->raw;
    } else if (!done) {
      append_bytes_field(out, number, value);
      done = true;
    }
  }
  if (!done) append_bytes_field(out, number, value);
  return out;
}

// How TensorFlow writes a name in a key: `.` as `..`, `/` as `.S`.
std::string escaped(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '/') {
      out += ".S";
    } else {
      out.append(c == '.' ? 2 : 1, c);
    }
  }
  return out;
}

std::string unescaped(std::string_view name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool pair = name[i] == '.' && i + 1 < name.size() && (name[i + 1] == '.' || name[i + 1] == 'S');
    if (pair) ++i;
    out += pair && name[i] == 'S' ? '/' : name[i];
  }
  return out;
}

ObjectGraph::Object parse_object(std::string_view bytes) {
  ObjectGraph::Object object;
  object.bytes = bytes;
  for (Fields fields(bytes); fields.next();) {
    const Field& field = fields.field();
    if (field.bytes(1)) {
      object.children.push_back({.id = static_cast<uint32_t>(last_varint(field.value, 1)),
                                 .name = escaped(last_bytes(field.value, 2)),
                                 .bytes = std::string(field.value)});
    } else if (field.bytes(2)) {
      object.attributes.push_back(
          {.key = std::string(last_bytes(field.value, 3)), .bytes = std::string(field.value)});
    } else if (field.bytes(3)) {
      object.slots.push_back({.original = static_cast<uint32_t>(last_varint(field.value, 1)),
                              .slot = static_cast<uint32_t>(last_varint(field.value, 3)),
                              .bytes = std::string(field.value)});
    } else {
      object.rest += field.raw;
    }
  }
  return object;
}

void add_child(ObjectGraph::Object& parent, uint32_t id, const std::string& name) {
  std::string bytes;
  if (id != 0) append_varint_field(bytes, 1, id);
  append_bytes_field(bytes, 2, unescaped(name));
  parent.children.push_back({.id = id, .name = name, .bytes = std::move(bytes)});
  parent.changed = true;
}

std::string join_names(std::string_view parent, std::string_view name) {
  return parent.empty() ? std::string(name) : std::string(parent) + "/" + std::string(name);
}

std::string_view parent_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view leaf_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::optional<uint32_t> child_of(const ObjectGraph::Object& object, std::string_view name) {
  for (const ObjectGraph::Child& child : object.children) {
    if (child.name == name) return child.id;
  }
  return std::nullopt;
}

void refuse_twins(const ObjectGraph::Object& object, std::string_view path) {
  std::vector<std::string_view> names;
  for (const ObjectGraph::Child& child : object.children) names.push_back(child.name);
  std::sort(names.begin(), names.end());
  const auto twin = std::adjacent_find(names.begin(), names.end());
  if (twin != names.end()) {
    throw Error(Cause::kRefused, "is taken")
        .of(quoted("object", join_names(path, *twin)))
        .hint("rename that too");
  }
}

// Marks what reaches a marked object, over children and slot variables.
void spread_back(const ObjectGraph& graph, std::vector<bool>& marked) {
  std::vector<std::vector<uint32_t>> readers(graph.objects.size());
  for (size_t i = 0; i < graph.objects.size(); ++i) {
    for (const auto& child : graph.objects[i].children) readers[child.id].push_back(static_cast<uint32_t>(i));
    for (const auto& slot : graph.objects[i].slots) readers[slot.slot].push_back(static_cast<uint32_t>(i));
  }
  std::vector<uint32_t> open;
  for (size_t i = 0; i < marked.size(); ++i) {
    if (marked[i]) open.push_back(static_cast<uint32_t>(i));
  }
  while (!open.empty()) {
    const uint32_t next = open.back();
    open.pop_back();
    for (const uint32_t reader : readers[next]) {
      if (marked[reader]) continue;
      marked[reader] = true;
      open.push_back(reader);
    }
  }
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
  for (size_t i = 0; i < graph.objects.size(); ++i) {
    const auto check = [&](uint32_t id) {
      if (id < graph.objects.size()) return;
      throw Error(Cause::kInput,
                  "names object " + std::to_string(id) + " of " + std::to_string(graph.objects.size()))
          .of("object " + std::to_string(i));
    };
    for (const auto& child : graph.objects[i].children) check(child.id);
    for (const auto& slot : graph.objects[i].slots) {
      check(slot.original);
      check(slot.slot);
    }
  }
  if (graph.objects.empty()) throw Error(Cause::kInput, "has no objects").of("object graph");
  return graph;
} catch (const Malformed& error) {
  throw Error(Cause::kInput, error.what()).of("object graph");
}

std::string object_graph_bytes(const ObjectGraph& graph) {
  std::string out;
  for (const ObjectGraph::Object& object : graph.objects) {
    if (!object.changed) {
      append_bytes_field(out, 1, object.bytes);
      continue;
    }
    std::string bytes;
    for (const auto& child : object.children) append_bytes_field(bytes, 1, child.bytes);
    for (const auto& attribute : object.attributes) append_bytes_field(bytes, 2, attribute.bytes);
    for (const auto& slot : object.slots) append_bytes_field(bytes, 3, slot.bytes);
    bytes += object.rest;
    append_bytes_field(out, 1, bytes);
  }
  return out + graph.rest;
}

std::string escaped_name(std::string_view name) { return escaped(name); }
std::string unescaped_name(std::string_view name) { return unescaped(name); }

PathMaker::PathMaker(const std::vector<std::string>& paths) {
  for (size_t i = 0; i < paths.size(); ++i) {
    if (!paths[i].empty()) by_path_.emplace(paths[i], static_cast<uint32_t>(i));
  }
}

std::vector<std::string> object_paths(const ObjectGraph& graph) {
  std::vector<std::string> paths(graph.objects.size());
  std::vector<bool> seen(graph.objects.size(), false);
  std::deque<uint32_t> open{0};
  seen[0] = true;
  size_t bytes = 0;
  while (!open.empty()) {
    const uint32_t next = open.front();
    open.pop_front();
    for (const auto& child : graph.objects[next].children) {
      if (seen[child.id]) continue;
      seen[child.id] = true;
      paths[child.id] = join_names(paths[next], child.name);
      bytes += paths[child.id].size();
      if (bytes > kMostPathBytes) throw Error(Cause::kInput, "paths are too long").of("object graph");
      open.push_back(child.id);
    }
  }
  return paths;
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

void store_object_graph(Checkpoint& checkpoint, const ObjectGraph& graph) {
  std::erase_if(checkpoint.tensors, [](const Tensor& tensor) { return tensor.name == kObjectGraphKey; });
  const std::string text = object_graph_bytes(graph);
  add_tensor(checkpoint, std::string(kObjectGraphKey), DType::kString, {}, string_bytes({text}));
  sort_tensors(checkpoint);
}

void settle_paths(const ObjectGraph& graph, Renaming& renaming) {
  const std::vector<std::string> paths = object_paths(graph);
  for (NamePair& pair : renaming.pairs()) {
    const std::string parent(parent_of(pair.from));
    if (parent.empty()) continue;
    std::optional<uint32_t> at = 0;
    for (std::string_view rest = parent; at && !rest.empty();) {
      const size_t slash = std::min(rest.find('/'), rest.size());
      at = child_of(graph.objects[*at], rest.substr(0, slash));
      rest.remove_prefix(std::min(slash + 1, rest.size()));
    }
    if (!at || paths[*at] == parent) continue;
    if (parent_of(pair.to) == parent) pair.to = join_names(paths[*at], leaf_of(pair.to));
    pair.from = join_names(paths[*at], leaf_of(pair.from));
  }
  renaming.index();
}

void rename_objects(ObjectGraph& graph, const Renaming& renaming) {
  const std::vector<std::string> paths = object_paths(graph);
  std::unordered_map<std::string, uint32_t> by_path;  // new paths
  std::vector<std::string> renamed(paths.size());
  by_path.emplace("", 0);
  for (size_t i = 1; i < paths.size(); ++i) {
    if (paths[i].empty()) continue;
    renamed[i] = renaming.apply(paths[i], true);
    by_path.emplace(renamed[i], static_cast<uint32_t>(i));
  }
  struct Move {
    uint32_t id;
    std::string path;
  };
  std::vector<Move> moves;
  std::set<uint32_t> touched;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (i != 0 && paths[i].empty()) continue;
    ObjectGraph::Object& object = graph.objects[i];
    std::vector<ObjectGraph::Child> stay;
    for (ObjectGraph::Child& child : object.children) {
      const std::string before = join_names(paths[i], child.name);
      const std::string after = renaming.apply(before, true);
      if (after == before && renamed[i] == paths[i]) {
        stay.push_back(std::move(child));
      } else if (parent_of(after) == renamed[i]) {
        if (const std::string name(leaf_of(after)); name != child.name) {
          child.bytes = with_bytes(child.bytes, 2, unescaped(name));
          child.name = name;
          object.changed = true;
          touched.insert(static_cast<uint32_t>(i));
        }
        stay.push_back(std::move(child));
      } else {
        moves.push_back({child.id, after});
        object.changed = true;
      }
    }
    object.children = std::move(stay);
  }
  for (const Move& move : moves) {
    uint32_t parent = 0;
    const std::string where(parent_of(move.path));
    for (size_t end = 0; end < where.size();) {  // makes what is missing of the way there
      end = std::min(where.find('/', end + 1), where.size());
      const auto [place, fresh] =
          by_path.emplace(where.substr(0, end), static_cast<uint32_t>(graph.objects.size()));
      if (fresh) {
        graph.objects.emplace_back();
        add_child(graph.objects[parent], place->second, std::string(leaf_of(place->first)));
        graph.objects.back().changed = true;
      }
      parent = place->second;
    }
    add_child(graph.objects[parent], move.id, std::string(leaf_of(move.path)));
    touched.insert(parent);
  }
  for (const uint32_t id : touched) refuse_twins(graph.objects[id], id < renamed.size() ? renamed[id] : "");
}

void rename_keys(ObjectGraph& graph, const std::map<std::string, std::string, std::less<>>& renamed) {
  for (ObjectGraph::Object& object : graph.objects) {
    for (ObjectGraph::Attribute& attribute : object.attributes) {
      const auto place = renamed.find(attribute.key);
      if (place == renamed.end()) continue;
      attribute.key = place->second;
      attribute.bytes = with_bytes(attribute.bytes, 3, attribute.key);
      object.changed = true;
    }
  }
}

void drop_keys(ObjectGraph& graph, const std::set<std::string, std::less<>>& keys) {
  const size_t count = graph.objects.size();
  std::vector<bool> lost(count, false), holds(count, false);
  for (size_t i = 0; i < count; ++i) {
    ObjectGraph::Object& object = graph.objects[i];
    const size_t before = object.attributes.size();
    std::erase_if(object.attributes, [&](const auto& attribute) { return keys.contains(attribute.key); });
    lost[i] = object.attributes.size() != before;
    if (lost[i]) object.changed = true;
    // Objects that a saver of their own writes hold something as well.
    holds[i] = !object.attributes.empty() || has_field(object.rest, 4);
  }
  const std::vector<bool> gone = lost;
  spread_back(graph, lost);
  spread_back(graph, holds);
  std::vector<bool> keep(count, true);
  for (size_t i = 1; i < count; ++i) keep[i] = !lost[i] || holds[i];
  std::vector<bool> emptied(count, false);
  for (size_t i = 0; i < count; ++i) emptied[i] = gone[i] && graph.objects[i].attributes.empty();
  // A slot of a variable that went goes with it; an object that only objects that went led to goes as well.
  const auto slot_goes = [&](const ObjectGraph::SlotVariable& slot) {
    return !keep[slot.original] || !keep[slot.slot] || emptied[slot.slot];
  };
  std::vector<bool> led_before(count, false), led(count, false);
  const auto walk = [&](std::vector<bool>& seen, bool all) {
    std::vector<uint32_t> open{0};
    seen[0] = true;
    const auto go = [&](uint32_t id) {
      if (seen[id] || (!all && !keep[id])) return;
      seen[id] = true;
      open.push_back(id);
    };
    while (!open.empty()) {
      const uint32_t next = open.back();
      open.pop_back();
      for (const auto& child : graph.objects[next].children) go(child.id);
      for (const auto& slot : graph.objects[next].slots) {
        if (all || !slot_goes(slot)) go(slot.slot);
      }
    }
  };
  walk(led_before, true);
  walk(led, false);
  for (size_t i = 1; i < count; ++i) keep[i] = keep[i] && (led[i] || !led_before[i]);

  std::vector<uint32_t> new_id(count, 0);
  uint32_t next = 0;
  for (size_t i = 0; i < count; ++i) {
    new_id[i] = next;
    if (keep[i]) ++next;
  }
  std::vector<ObjectGraph::Object> kept;
  for (size_t i = 0; i < count; ++i) {
    if (!keep[i]) continue;
    ObjectGraph::Object& object = graph.objects[i];
    const size_t before = object.children.size() + object.slots.size();
    std::erase_if(object.children, [&](const auto& child) { return !keep[child.id]; });
    std::erase_if(object.slots, slot_goes);
    if (object.children.size() + object.slots.size() != before) object.changed = true;
    for (auto& child : object.children) {
      if (new_id[child.id] == child.id) continue;
      child.id = new_id[child.id];
      child.bytes = with_varint(child.bytes, 1, child.id);
      object.changed = true;
    }
    for (auto& slot : object.slots) {
      if (new_id[slot.original] == slot.original && new_id[slot.slot] == slot.slot) continue;
      slot.original = new_id[slot.original];
      slot.slot = new_id[slot.slot];
      slot.bytes = with_varint(with_varint(slot.bytes, 1, slot.original), 3, slot.slot);
      object.changed = true;
    }
    kept.push_back(std::move(object));
  }
  graph.objects = std::move(kept);
}

void copy_values(ObjectGraph& graph, const std::vector<CopiedValue>& values) {
  PathMaker places(object_paths(graph));
  std::unordered_map<std::string, std::pair<size_t, size_t>> by_key;  // object, attribute
  for (size_t i = 0; i < graph.objects.size(); ++i) {
    for (size_t k = 0; k < graph.objects[i].attributes.size(); ++k)
      by_key.emplace(graph.objects[i].attributes[k].key, std::pair(i, k));
  }
  const auto make = [&](uint32_t parent, std::string_view name) {
    const auto id = static_cast<uint32_t>(graph.objects.size());
    graph.objects.emplace_back().changed = true;
    add_child(graph.objects[parent], id, std::string(name));
    return id;
  };
  const auto there = [&](uint32_t parent, std::string_view name) {
    return child_of(graph.objects[parent], name);
  };
  for (const CopiedValue& value : values) {
    const auto found = by_key.find(value.key);
    if (found == by_key.end()) continue;
    const auto [original, number] = found->second;
    const std::string path(object_path(value.copy_key));
    if (places.has(path)) throw Error(Cause::kRefused, "is taken").of(quoted("object", path));
    const size_t before = graph.objects.size();
    const uint32_t id = places.at(path, there, make);
    if (id < before) throw Error(Cause::kRefused, "is taken").of(quoted("object", path));
    std::string bytes(graph.objects[original].attributes[number].bytes);
    if (!value.full_name.empty()) bytes = with_bytes(bytes, 2, value.full_name);
    graph.objects[id].attributes.push_back(
        {.key = value.copy_key, .bytes = with_bytes(bytes, 3, value.copy_key)});
    graph.objects[id].rest = graph.objects[original].rest;
  }
}

ObjectGraph join_objects(const std::vector<std::pair<std::string, ObjectGraph>>& graphs) {
  ObjectGraph joined;
  joined.objects.emplace_back().changed = true;
  for (const auto& [name, graph] : graphs) {
    const auto base = static_cast<uint32_t>(joined.objects.size());
    const std::string prefix = escaped(name);
    add_child(joined.objects[0], base, prefix);
    for (ObjectGraph::Object object : graph.objects) {
      object.changed = true;
      for (auto& child : object.children) child.bytes = with_varint(child.bytes, 1, child.id += base);
      for (auto& slot : object.slots) {
        slot.bytes = with_varint(with_varint(slot.bytes, 1, slot.original += base), 3, slot.slot += base);
      }
      for (auto& attribute : object.attributes) {
        attribute.key = join_names(prefix, attribute.key);
        attribute.bytes = with_bytes(attribute.bytes, 3, attribute.key);
      }
      joined.objects.push_back(std::move(object));
    }
  }
  return joined;
}

}  // namespace gedit
