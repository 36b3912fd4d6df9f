#include "checkpoint/object_edits.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <unordered_map>

#include "base/error.h"
#include "base/wire.h"

namespace gedit {
namespace {

constexpr uint32_t kRegisteredSaver = 4;  // TrackableObject

// Objects of which the tensors have more than the attribute's key in their names
// (docs/tensorflow.md#object-graph).
struct EndedKeys {
  std::span<const std::string_view> ends;  // a tensor each
  const char* object;
  const char* refusal;  // where they would be parted
};
constexpr std::array<std::string_view, 2> kTableEnds = {"-keys", "-values"};
constexpr std::array<std::string_view, 1> kIteratorEnds = {"_STATE"};
constexpr std::array kEndedKeys = {
    EndedKeys{kTableEnds, "table", "the keys and the values of a table stay together"},
    EndedKeys{kIteratorEnds, "iterator", "the key of an iterator's state ends in _STATE"}};

Error parted(const EndedKeys& ended, std::string_view key) {
  return Error(Cause::kRefused, ended.refusal).of(quoted(ended.object, key));
}

// The attribute's key, where all its tensors are renamed alike; nothing where none is.
std::optional<std::string> renamed_stem(const EndedKeys& ended, const std::string& key,
                                        const std::map<std::string, std::string, std::less<>>& renamed) {
  std::optional<std::string> stem;
  size_t hits = 0;
  for (const std::string_view end : ended.ends) {
    const auto found = renamed.find(key + std::string(end));
    if (found == renamed.end()) continue;
    ++hits;
    if (!found->second.ends_with(end)) throw parted(ended, key);
    const std::string own = found->second.substr(0, found->second.size() - end.size());
    if (stem && *stem != own) throw parted(ended, key);
    stem = own;
  }
  if (hits > 0 && hits < ended.ends.size()) throw parted(ended, key);
  return stem;
}

// What a registered saver keeps of an object lies under keys that begin with the name that the object graph
// has for it (docs/tensorflow.md#tensor-bundles). Calls `now` with it; where that gives another, it becomes
// that.
template <typename Now>
void map_name_of_saver(ObjectGraph::Object& object, Now now) {
  constexpr uint32_t kObjectName = 2;  // RegisteredSaver
  if (!has_field(object.rest, kRegisteredSaver)) return;
  std::string rest;
  for (Fields fields(object.rest); fields.next();) {
    if (!fields->bytes(kRegisteredSaver)) {
      rest += fields->raw;
      continue;
    }
    const std::string_view name = last_bytes(fields->value, kObjectName);
    append_bytes_field(rest, kRegisteredSaver, with_text(fields->value, kObjectName, now(name)));
  }
  object.changed = object.changed || rest != object.rest;
  object.rest = std::move(rest);
}

// What names of registered savers become, where all keys that begin with one are renamed alike. A key is of
// the longest name that it begins with.
std::map<std::string, std::string, std::less<>> renamed_savers(
    ObjectGraph& graph, const std::map<std::string, std::string, std::less<>>& renamed) {
  std::set<std::string, std::less<>> names;
  for (ObjectGraph::Object& object : graph.objects) {
    map_name_of_saver(object, [&](std::string_view name) {
      if (!name.empty()) names.emplace(name);
      return std::string(name);
    });
  }
  std::map<std::string, std::string, std::less<>> now;
  for (const auto& [key, becomes] : renamed) {
    if (names.empty() || object_path(key).size() != key.size()) continue;  // of an object's attribute
    std::string_view name = key;
    while (!name.empty() && !names.contains(name)) name.remove_suffix(1);
    if (name.empty()) continue;
    const std::string_view end = std::string_view(key).substr(name.size());
    const bool whole = std::string_view(becomes).ends_with(end);
    const std::string own = whole ? becomes.substr(0, becomes.size() - end.size()) : "";
    const auto [known, fresh] = now.emplace(name, own);
    if (!whole || known->second != own)
      throw Error(Cause::kRefused, "the tensors of a registered saver stay together")
          .of(quoted("object", name));
  }
  return now;
}

// Whether all its tensors are among the keys.
bool has_all(const EndedKeys& ended, const std::string& key, const std::set<std::string, std::less<>>& keys) {
  const auto hits = std::ranges::count_if(
      ended.ends, [&](std::string_view end) { return keys.contains(key + std::string(end)); });
  if (hits > 0 && static_cast<size_t>(hits) < ended.ends.size()) throw parted(ended, key);
  return hits > 0;
}

Error taken(std::string_view path) { return Error(Cause::kRefused, "is taken").of(quoted("object", path)); }

void refuse_twins(const ObjectGraph::Object& object, std::string_view path) {
  std::vector<std::string_view> names;
  for (const Trackable::Reference& child : object.children) names.push_back(child.name);
  std::sort(names.begin(), names.end());
  const auto twin = std::adjacent_find(names.begin(), names.end());
  if (twin != names.end()) throw taken(joined_path(path, escaped_name(*twin))).hint("rename that too");
}

uint32_t add_new_child(ObjectGraph& graph, uint32_t parent, std::string_view name) {
  const auto id = static_cast<uint32_t>(graph.objects.size());
  graph.objects.emplace_back().changed = true;
  add_child(graph.objects[parent], name, id);
  return id;
}

}  // namespace

void settle_paths(const ObjectGraph& graph, Renaming& renaming) {
  const std::vector<std::string> paths = object_paths(graph.objects);
  ObjectFinder finder(graph.objects);
  for (NamePair& pair : renaming.pairs()) {
    const std::string parent(parent_path(pair.from));
    if (parent.empty()) continue;
    const std::optional<uint32_t> at = finder.find(parent);
    if (!at || paths[*at] == parent) continue;
    if (parent_path(pair.to) == parent) pair.to = joined_path(paths[*at], last_of_path(pair.to));
    pair.from = joined_path(paths[*at], last_of_path(pair.from));
  }
  renaming.index();
}

void rename_objects(ObjectGraph& graph, const Renaming& renaming) {
  const std::vector<std::string> paths = object_paths(graph.objects);
  std::vector<std::string> renamed(paths.size());
  for (size_t i = 1; i < paths.size(); ++i) {
    if (!paths[i].empty()) renamed[i] = renaming.apply(paths[i], true);
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
    std::vector<Trackable::Reference> stay;
    for (Trackable::Reference& child : object.children) {
      const std::string before = joined_path(paths[i], escaped_name(child.name));
      const std::string after = renaming.apply(before, true);
      if (after == before && renamed[i] == paths[i]) {
        stay.push_back(std::move(child));
      } else if (parent_path(after) == renamed[i]) {
        if (last_of_path(after) != last_of_path(before)) {
          child.name = unescaped_name(last_of_path(after));
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
  PathMaker places(renamed);
  for (const Move& move : moves) {
    const uint32_t parent = places.at(
        parent_path(move.path), [](uint32_t, std::string_view) { return std::nullopt; },
        [&](uint32_t above, std::string_view name) { return add_new_child(graph, above, name); });
    add_child(graph.objects[parent], unescaped_name(last_of_path(move.path)), move.id);
    touched.insert(parent);
  }
  for (const uint32_t id : touched) refuse_twins(graph.objects[id], id < renamed.size() ? renamed[id] : "");
}

void rename_keys(ObjectGraph& graph, const std::map<std::string, std::string, std::less<>>& renamed) {
  const auto savers = renamed_savers(graph, renamed);
  for (ObjectGraph::Object& object : graph.objects) {
    map_name_of_saver(object, [&](std::string_view name) {
      const auto found = savers.find(name);
      return found == savers.end() ? std::string(name) : found->second;
    });
    for (ObjectGraph::Attribute& attribute : object.attributes) {
      if (const auto place = renamed.find(attribute.key); place != renamed.end()) {
        attribute.key = place->second;
        object.changed = true;
        continue;
      }
      for (const EndedKeys& ended : kEndedKeys) {
        const std::optional<std::string> stem = renamed_stem(ended, attribute.key, renamed);
        if (!stem) continue;
        attribute.key = *stem;
        object.changed = true;
        break;
      }
    }
  }
}

void drop_keys(ObjectGraph& graph, const std::set<std::string, std::less<>>& keys) {
  const size_t count = graph.objects.size();
  std::vector<bool> lost(count, false), holds(count, false);
  for (size_t i = 0; i < count; ++i) {
    ObjectGraph::Object& object = graph.objects[i];
    lost[i] =
        std::erase_if(object.attributes, [&](const auto& attribute) {
          return keys.contains(attribute.key) || std::ranges::any_of(kEndedKeys, [&](const EndedKeys& ended) {
                   return has_all(ended, attribute.key, keys);
                 });
        }) > 0;
    if (lost[i]) object.changed = true;
    // Objects that a saver of their own writes hold something as well.
    holds[i] = !object.attributes.empty() || has_field(object.rest, kRegisteredSaver);
  }
  const ObjectLinks before = links_of(graph.objects, Leads::kByChildrenAndSlots);
  std::vector<bool> keep = leading_on(before, lost, holds);
  keep[0] = true;
  // A slot of a variable that went goes with it; an object that only objects that went led to goes as well.
  const auto slot_goes = [&](const Trackable::Slot& slot) {
    return !keep[slot.variable] || !keep[slot.slot] ||
           (lost[slot.slot] && graph.objects[slot.slot].attributes.empty());
  };
  for (ObjectGraph::Object& object : graph.objects) {
    if (std::erase_if(object.slots, slot_goes) > 0) object.changed = true;
  }
  const std::vector<bool> led_before = reached_from_root(before, std::vector<bool>(count, true));
  const std::vector<bool> led = reached_from_root(links_of(graph.objects, Leads::kByChildrenAndSlots), keep);
  for (size_t i = 1; i < count; ++i) keep[i] = keep[i] && (led[i] || !led_before[i]);
  keep_objects(graph.objects, keep);
}

void copy_values(ObjectGraph& graph, const std::vector<CopiedValue>& values) {
  PathMaker places(object_paths(graph.objects));
  std::unordered_map<std::string, std::pair<size_t, size_t>> by_key;  // object, attribute
  for (size_t i = 0; i < graph.objects.size(); ++i) {
    for (size_t k = 0; k < graph.objects[i].attributes.size(); ++k)
      by_key.emplace(graph.objects[i].attributes[k].key, std::pair(i, k));
  }
  for (const CopiedValue& value : values) {
    const auto found = by_key.find(value.key);
    if (found == by_key.end()) continue;
    const auto [original, number] = found->second;
    const std::string path(object_path(value.copy_key));
    if (places.has(path)) throw taken(path);
    const size_t before = graph.objects.size();
    const uint32_t id = places.at(
        path, [&](uint32_t parent, std::string_view name) { return child_of(graph.objects[parent], name); },
        [&](uint32_t parent, std::string_view name) { return add_new_child(graph, parent, name); });
    if (id < before) throw taken(path);
    ObjectGraph::Attribute attribute = graph.objects[original].attributes[number];
    if (!value.full_name.empty()) attribute.full_name = value.full_name;
    attribute.key = value.copy_key;
    graph.objects[id].attributes.push_back(std::move(attribute));
    graph.objects[id].rest = graph.objects[original].rest;
  }
}

ObjectGraph join_objects(std::vector<std::pair<std::string, ObjectGraph>>&& graphs) {
  ObjectGraph joined;
  joined.objects.emplace_back().changed = true;
  for (auto& [name, graph] : graphs) {
    const std::string prefix = escaped_name(name);
    for (ObjectGraph::Object& object : graph.objects) {
      for (ObjectGraph::Attribute& attribute : object.attributes)
        attribute.key = joined_path(prefix, attribute.key);
      map_name_of_saver(object, [&](std::string_view name) { return joined_path(prefix, name); });
    }
    const uint32_t root = append_objects(joined.objects, std::move(graph.objects));
    add_child(joined.objects[0], name, root);
  }
  return joined;
}

}  // namespace gedit
