// Nothing here recurses, and nothing costs more than the size of the graph; ids of read_saved_objects() may
// name nothing until they are checked.
#include "checkpoint/object_tree.h"

#include <deque>

#include "base/error.h"
#include "base/wire.h"

namespace gedit {
namespace {

constexpr size_t kMostPathBytes = size_t{64} << 20;

// The message with field `number` written where it stands (at the end where it is not there).
template <typename Write>
std::string with_replaced(std::string_view message, uint32_t number, Write write) {
  std::string out;
  bool done = false;
  for (Fields fields(message); fields.next();) {
    if (fields->number != number) {
      out += fields->raw;
    } else if (!std::exchange(done, true)) {
      write(out);
    }
  }
  if (!done) write(out);
  return out;
}

std::string with_number(std::string_view message, uint32_t number, uint64_t value) {
  if (last_varint(message, number) == value) return std::string(message);
  return with_replaced(message, number, [&](std::string& out) { append_varint_field(out, number, value); });
}

// Marks what the marked objects lead to, over such as are in `through`.
void spread(const ObjectLinks& links, std::vector<bool>& marked, const std::vector<bool>& through) {
  std::vector<uint32_t> open;
  for (size_t id = 0; id < marked.size(); ++id) {
    if (marked[id]) open.push_back(static_cast<uint32_t>(id));
  }
  while (!open.empty()) {
    const uint32_t at = open.back();
    open.pop_back();
    for (const uint32_t next : links[at]) {
      if (marked[next] || !through[next]) continue;
      marked[next] = true;
      open.push_back(next);
    }
  }
}

ObjectLinks turned(const ObjectLinks& links) {
  ObjectLinks back(links.size());
  for (size_t id = 0; id < links.size(); ++id) {
    for (const uint32_t next : links[id]) back[next].push_back(static_cast<uint32_t>(id));
  }
  return back;
}

}  // namespace

Trackable::Reference read_reference(std::string_view bytes) {
  Trackable::Reference reference;
  reference.bytes = bytes;
  for (Fields fields(bytes); fields.next();) {
    if (fields->number == 1 && fields->wire == Wire::kVarint) {
      reference.id = static_cast<uint32_t>(fields->varint);
    } else if (fields->bytes(2)) {
      reference.name = fields->value;
    } else {
      reference.rest += fields->raw;
    }
  }
  return reference;
}

std::string reference_bytes(const Trackable::Reference& reference, Written how) {
  std::string bytes;
  if (how == Written::kMended && !reference.bytes.empty()) {
    bytes = with_number(reference.bytes, 1, reference.id);
    return with_text(bytes, 2, reference.name);
  }
  if (reference.id != 0) append_varint_field(bytes, 1, reference.id);
  if (!reference.name.empty()) append_bytes_field(bytes, 2, reference.name);
  return bytes + reference.rest;
}

Trackable::Slot read_slot(std::string_view bytes) {
  Trackable::Slot slot;
  slot.bytes = bytes;
  for (Fields fields(bytes); fields.next();) {
    if (fields->wire == Wire::kVarint && (fields->number == 1 || fields->number == 3)) {
      (fields->number == 1 ? slot.variable : slot.slot) = static_cast<uint32_t>(fields->varint);
    } else if (fields->bytes(2)) {
      slot.name = fields->value;
    } else {
      slot.rest += fields->raw;
    }
  }
  return slot;
}

std::string slot_bytes(const Trackable::Slot& slot, Written how) {
  std::string bytes;
  if (how == Written::kMended && !slot.bytes.empty()) {
    bytes = with_number(slot.bytes, 1, slot.variable);
    bytes = with_text(bytes, 2, slot.name);
    return with_number(bytes, 3, slot.slot);
  }
  if (slot.variable != 0) append_varint_field(bytes, 1, slot.variable);
  if (!slot.name.empty()) append_bytes_field(bytes, 2, slot.name);
  if (slot.slot != 0) append_varint_field(bytes, 3, slot.slot);
  return bytes + slot.rest;
}

std::string with_text(std::string_view message, uint32_t number, std::string_view value) {
  if (last_bytes(message, number) == value) return std::string(message);
  return with_replaced(message, number, [&](std::string& out) { append_bytes_field(out, number, value); });
}

std::optional<BadReference> find_bad_reference(const Trackables& objects) {
  std::optional<BadReference> found;
  for (uint32_t number = 0; number < objects.size() && !found; ++number) {
    each_id(objects[number], [&](uint32_t id) {
      if (id >= objects.size() && !found) found = BadReference{number, id};
    });
  }
  return found;
}

std::optional<uint32_t> child_of(const Trackable& object, std::string_view name) {
  for (const Trackable::Reference& child : object.children) {
    if (child.name == name) return child.id;
  }
  return std::nullopt;
}

void add_child(Trackable& parent, std::string_view name, uint32_t id) {
  parent.children.push_back({.id = id, .name = std::string(name)});
  parent.changed = true;
}

// ---------------------------------------------------------------------------------------------------- paths

std::string escaped_name(std::string_view name) {
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

std::string unescaped_name(std::string_view name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool pair = name[i] == '.' && i + 1 < name.size() && (name[i + 1] == '.' || name[i + 1] == 'S');
    if (pair) ++i;
    out += pair && name[i] == 'S' ? '/' : name[i];
  }
  return out;
}

std::string joined_path(std::string_view parent, std::string_view name) {
  return parent.empty() ? std::string(name) : std::string(parent) + "/" + std::string(name);
}

std::string_view parent_path(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view last_of_path(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // all of it where there is no slash
}

std::vector<std::string> object_paths(const Trackables& objects) {
  std::vector<std::string> paths(objects.size());
  if (paths.empty()) return paths;
  std::vector<bool> seen(objects.size(), false);
  std::deque<uint32_t> open{0};
  seen[0] = true;
  size_t bytes = 0;
  while (!open.empty()) {
    const uint32_t next = open.front();
    open.pop_front();
    for (const Trackable::Reference& child : objects[next].children) {
      if (child.id >= objects.size() || seen[child.id]) continue;
      seen[child.id] = true;
      paths[child.id] = joined_path(paths[next], escaped_name(child.name));
      bytes += paths[child.id].size();
      if (bytes > kMostPathBytes) throw Error(Cause::kInput, "paths are too long").of("object graph");
      open.push_back(child.id);
    }
  }
  return paths;
}

OtherPaths::OtherPaths(Trackables objects) : objects_(std::move(objects)), ways_(objects_.size()) {
  if (objects_.size() == 0) return;
  std::deque<std::pair<uint32_t, uint32_t>> open;  // objects, and from which child of the root
  std::vector<bool> is_first(objects_.size());
  for (const Trackable::Reference& child : objects_[0].children) {
    if (child.id < objects_.size()) is_first[child.id] = true;
  }
  const auto find = [&](const Trackable::Reference& child, uint32_t first, uint32_t parent) {
    if (child.id == 0 || child.id >= objects_.size() || (parent != 0 && is_first[child.id])) return;
    for (Way& way : ways_[child.id]) {
      if (way.first == first) return;
      if (way.first != kNone) continue;
      way = {first, parent, &child.name};
      open.emplace_back(child.id, first);
      return;
    }
  };
  for (const Trackable::Reference& child : objects_[0].children) {
    firsts_.emplace(escaped_name(child.name), child.id);
    find(child, child.id, 0);
  }
  while (!open.empty()) {
    const auto [parent, first] = open.front();
    open.pop_front();
    for (const Trackable::Reference& child : objects_[parent].children) find(child, first, parent);
  }
}

std::string OtherPaths::of(uint32_t id, std::string_view path) const {
  const auto own = firsts_.find(std::string(path.substr(0, path.find('/'))));
  for (const Way& way : ways_[id]) {
    if (way.first == kNone || (own != firsts_.end() && way.first == own->second)) continue;
    std::string other = escaped_name(*way.name);
    for (uint32_t at = way.parent; at != 0;) {
      const std::array<Way, 2>& ways = ways_[at];
      const Way& before = ways[0].first == way.first ? ways[0] : ways[1];
      other = joined_path(escaped_name(*before.name), other);
      at = before.parent;
    }
    return other;
  }
  return {};
}

std::optional<uint32_t> ObjectFinder::find(std::string_view path) {
  if (objects_.size() == 0) return std::nullopt;
  uint32_t at = 0;
  for (std::string_view rest = path; !rest.empty();) {
    const auto [known, fresh] = children_.try_emplace(at);
    if (fresh) {
      for (const Trackable::Reference& child : objects_[at].children)
        known->second.emplace(escaped_name(child.name), child.id);
    }
    const size_t slash = std::min(rest.find('/'), rest.size());
    const auto child = known->second.find(std::string(rest.substr(0, slash)));
    if (child == known->second.end() || child->second >= objects_.size()) return std::nullopt;
    at = child->second;
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  return at;
}

PathMaker::PathMaker(const std::vector<std::string>& paths) {
  for (size_t i = 0; i < paths.size(); ++i) {
    if (!paths[i].empty()) by_path_.emplace(paths[i], static_cast<uint32_t>(i));
  }
}

// ---------------------------------------------------------------------------------------------------- reach

ObjectLinks links_of(const Trackables& objects, Leads leads) {
  ObjectLinks links(objects.size());
  for (size_t id = 0; id < objects.size(); ++id) {
    for (const Trackable::Reference& child : objects[id].children) links[id].push_back(child.id);
    if (leads == Leads::kByChildren) continue;
    for (const Trackable::Slot& slot : objects[id].slots) links[id].push_back(slot.slot);
  }
  return links;
}

std::vector<bool> reached_from_root(const ObjectLinks& links, const std::vector<bool>& through) {
  std::vector<bool> marked(links.size(), false);
  if (!marked.empty()) marked[0] = true;
  spread(links, marked, through);
  return marked;
}

std::vector<bool> leading_on(const ObjectLinks& links, const std::vector<bool>& lost,
                             const std::vector<bool>& holds) {
  const ObjectLinks back = turned(links);
  const std::vector<bool> all(links.size(), true);
  std::vector<bool> to_lost = lost, to_held = holds;
  spread(back, to_lost, all);
  spread(back, to_held, all);
  for (size_t id = 0; id < links.size(); ++id) to_held[id] = to_held[id] || !to_lost[id];
  return to_held;
}

// ---------------------------------------------------------------------------------------------------- edits

namespace object_tree {

std::vector<uint32_t> new_ids(const std::vector<bool>& stays) {
  std::vector<uint32_t> ids(stays.size(), 0);
  uint32_t next = 0;
  for (size_t id = 0; id < stays.size(); ++id) {
    ids[id] = next;
    if (stays[id]) ++next;
  }
  return ids;
}

void mend(Trackable& object, const std::vector<bool>& stays, const std::vector<uint32_t>& ids) {
  const auto gone = [&](uint32_t id) { return !stays[id]; };
  const auto to_gone = [&](const Trackable::Reference& reference) { return gone(reference.id); };
  const size_t erased =
      std::erase_if(object.children, to_gone) + std::erase_if(object.dependencies, to_gone) +
      std::erase_if(object.slots, [&](const auto& slot) { return gone(slot.variable) || gone(slot.slot); }) +
      std::erase_if(object.saveables,
                    [&](const auto& saveable) { return gone(saveable.save) || gone(saveable.restore); });
  if (erased > 0) object.changed = true;
  each_id(object, [&](uint32_t& id) {
    object.changed = object.changed || ids[id] != id;
    id = ids[id];
  });
}

}  // namespace object_tree

}  // namespace gedit
