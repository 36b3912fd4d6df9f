#include "optimize/transforms.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "edit/around/map.h"
#include "edit/basis/names.h"
#include "graph/colocation.h"

namespace gedit::optimizing {
namespace {

constexpr auto kKnown = std::to_array<std::string_view>({
    "fold_batch_norms",
    "fold_constants",
    "fold_old_batch_norms",
    "merge_duplicate_nodes",
    "obfuscate_names",
    "remove_attribute",
    "remove_device",
    "remove_nodes",
    "rename_attribute",
    "rename_node",
    "rename_op",
    "set_device",
    "sort_by_execution_order",
    "strip_unused_nodes",
});

Error wrong(std::string message) {
  return Error(Cause::kUsage, std::move(message)).of("option '--transforms'");
}

// The text, piece by piece.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool at_end() {
    skip();
    return at_ == text_.size();
  }
  bool take(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string word(std::string_view stops) {
    skip();
    if (at_ < text_.size() && text_[at_] == '"') {
      const size_t end = text_.find('"', at_ + 1);
      if (end == std::string_view::npos) throw wrong("a quotation does not end");
      const std::string found(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      return found;
    }
    const size_t begin = at_;
    while (at_ < text_.size() && !is_space(text_[at_]) && stops.find(text_[at_]) == std::string_view::npos)
      ++at_;
    if (begin == at_) throw wrong("a word is missing at character " + std::to_string(begin + 1));
    return std::string(text_.substr(begin, at_ - begin));
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\'; }
  void skip() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
};

// Gives nodes other names, wherever these stand.
class Renaming final : public NameMap {
 public:
  explicit Renaming(std::unordered_map<std::string, std::string> names) : names_(std::move(names)) {}

  bool map(NameKind, std::string_view name, std::string& out) const override {
    const bool control = name.starts_with('^');
    const std::string_view bare = control ? name.substr(1) : name;
    const size_t colon = bare.rfind(':');
    const auto found = names_.find(std::string(bare.substr(0, colon)));
    if (found == names_.end()) {
      out += name;
      return true;
    }
    if (control) out += '^';
    out += found->second;
    if (colon != std::string_view::npos) out += bare.substr(colon);
    return true;
  }

  uint64_t apply(Model& model) const {
    Graph& graph = model.graph();
    uint64_t changed = 0;
    for (uint32_t i = 0; i < graph.size(); ++i) {
      const NodeId id{i};
      if (graph.removed(id)) continue;
      std::string made(graph.bytes(id));
      std::vector<std::string> inputs = inputs_of(made);
      bool any = false;
      for (std::string& input : inputs) {
        std::string now;
        map({}, input, now);
        any = any || now != input;
        input = std::move(now);
      }
      if (any) made = with_inputs(made, inputs);
      if (const auto named = names_.find(std::string(graph.name(id))); named != names_.end()) {
        made = with_name(made, named->second);
        any = true;
      }
      any = colocated(made) || any;
      if (!any) continue;
      ++changed;
      graph.replace(id, made);
    }
    map_surroundings(model.meta(), *this);
    return changed;
  }

 private:
  bool colocated(std::string& node_def) const {
    const auto value = find_attr(node_def, "_class");
    if (!value) return false;
    std::vector<std::string> entries;
    bool any = false;
    for (Fields list(last_bytes(*value, attr_field::kList)); list.next();) {
      if (!list->bytes(attr_field::kString)) continue;
      const auto with = colocated_with(list->value);
      const auto found = with ? names_.find(std::string(*with)) : names_.end();
      any = any || found != names_.end();
      entries.push_back(found == names_.end() ? std::string(list->value)
                                              : std::string(kColocatedWith) + found->second);
    }
    if (any) node_def = with_attr(node_def, "_class", string_list_value(entries));
    return any;
  }

  std::unordered_map<std::string, std::string> names_;
};

// a, b, ..., z, aa, ab, ...
std::string short_name(uint64_t number) {
  std::string name;
  for (++number; number > 0; number = (number - 1) / 26)
    name.insert(name.begin(), static_cast<char>('a' + (number - 1) % 26));
  return name;
}

uint64_t obfuscate(Model& model, const std::vector<bool>& kept) {
  const Graph& graph = model.graph();
  std::unordered_set<std::string_view> taken;
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (!graph.removed(NodeId{i}) && kept[i]) taken.insert(graph.name(NodeId{i}));
  }
  std::unordered_map<std::string, std::string> names;
  uint64_t next = 0;
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (graph.removed(NodeId{i}) || kept[i]) continue;
    std::string name = short_name(next++);
    while (taken.contains(name)) name = short_name(next++);
    names.emplace(graph.name(NodeId{i}), std::move(name));
  }
  return Renaming(std::move(names)).apply(model);
}

uint64_t rename_node(Model& model, const Transform& transform) {
  const std::string from = transform.value("old_node_name"), to = transform.value("new_node_name");
  if (from.empty() || to.empty()) throw wrong("rename_node takes old_node_name and new_node_name");
  const Names names(model.graph());
  if (names.find(from) == kNoNode) return 0;
  if (names.find(to) != kNoNode || invalid_name_at(to) != std::string::npos)
    throw refused("is no free node name").of(quoted("node", to));
  std::unordered_map<std::string, std::string> renamed;
  renamed.emplace(from, to);
  return Renaming(std::move(renamed)).apply(model);
}

// Calls change(node_def) for each node; what it gives takes the node's place, an empty text leaves it.
template <typename Change>
uint64_t each_changed(Graph& graph, Change change) {
  uint64_t changed = 0;
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (graph.removed(NodeId{i})) continue;
    std::string made = change(graph.bytes(NodeId{i}));
    if (made.empty() || made == graph.bytes(NodeId{i})) continue;
    graph.replace(NodeId{i}, made);
    ++changed;
  }
  return changed;
}

bool op_matches(const Transform& transform, std::string_view node_def) {
  const std::string op = transform.value("op_name", "*");
  return op == "*" || op == node_op(node_def);
}

std::string with_device(std::string_view node_def, const Transform& transform) {
  if (transform.value("if_default") == "true" && !node_device(node_def).empty()) return {};
  std::string left;
  for (Fields fields(node_def); fields.next();) {
    if (!fields->bytes(node_field::kDevice)) left += fields->raw;
  }
  append_bytes_field(left, node_field::kDevice, transform.value("device"));
  return left;
}

std::string without_device(std::string_view node_def) {
  std::string left;
  for (Fields fields(node_def); fields.next();) {
    if (!fields->bytes(node_field::kDevice)) left += fields->raw;
  }
  return left;
}

}  // namespace

bool Transform::has(std::string_view key) const { return !all(key).empty(); }

std::string Transform::value(std::string_view key, std::string_view otherwise) const {
  const std::vector<std::string> found = all(key);
  return found.empty() ? std::string(otherwise) : found.back();
}

std::vector<std::string> Transform::all(std::string_view key) const {
  std::vector<std::string> found;
  for (const auto& [name, value] : values) {
    if (name == key) found.push_back(value);
  }
  return found;
}

std::vector<Transform> parse_transforms(std::string_view text) {
  std::vector<Transform> all;
  for (Reader reader(text); !reader.at_end();) {
    Transform transform{reader.word("()"), {}};
    if (std::ranges::find(kKnown, transform.name) == kKnown.end()) {
      std::string known;
      for (const std::string_view one : kKnown) known.append(known.empty() ? "" : ", ").append(one);
      throw wrong("unknown: " + printable(transform.name)).hint("one of " + known);
    }
    if (reader.take('(')) {
      while (!reader.take(')')) {
        std::string key = reader.word("=,()");
        if (!reader.take('=')) throw wrong("'" + printable(key) + "' has no value");
        transform.values.emplace_back(std::move(key), reader.word(",()"));
        if (!reader.take(',') && reader.at_end()) throw wrong("a ')' is missing");
      }
    }
    all.push_back(std::move(transform));
  }
  if (all.empty()) throw wrong("no transform");
  return all;
}

bool transform_nodes(Model& model, const Transform& transform, const std::vector<bool>& kept,
                     NodeTransformed& done) {
  Graph& graph = model.graph();
  const std::string& name = transform.name;
  if (name == "remove_device") {
    done.nodes = each_changed(graph, without_device);
  } else if (name == "set_device") {
    done.nodes =
        each_changed(graph, [&](std::string_view node_def) { return with_device(node_def, transform); });
  } else if (name == "remove_attribute") {
    const std::string key = transform.value("attribute_name");
    if (key.empty()) throw wrong("remove_attribute takes attribute_name");
    done.nodes = each_changed(graph, [&](std::string_view node_def) {
      return op_matches(transform, node_def) ? with_attr(node_def, key, std::nullopt) : std::string();
    });
    if (!key.starts_with('_')) done.why = "attribute " + printable(key) + " is gone";
  } else if (name == "rename_attribute") {
    const std::string from = transform.value("old_attribute_name"),
                      to = transform.value("new_attribute_name");
    if (from.empty() || to.empty())
      throw wrong("rename_attribute takes old_attribute_name and new_attribute_name");
    done.nodes = each_changed(graph, [&](std::string_view node_def) {
      const auto value = find_attr(node_def, from);
      if (!value || !op_matches(transform, node_def)) return std::string();
      return with_attr(with_attr(node_def, from, std::nullopt), to, *value);
    });
    done.why = "attribute " + printable(from) + " is " + printable(to);
  } else if (name == "rename_op") {
    const std::string from = transform.value("old_op_name"), to = transform.value("new_op_name");
    if (from.empty() || to.empty()) throw wrong("rename_op takes old_op_name and new_op_name");
    done.nodes = each_changed(graph, [&](std::string_view node_def) {
      return node_op(node_def) == from ? with_op(node_def, to) : std::string();
    });
    done.why = "op " + printable(from) + " is " + printable(to);
  } else if (name == "rename_node") {
    done.nodes = rename_node(model, transform);
  } else if (name == "obfuscate_names") {
    done.nodes = obfuscate(model, kept);
  } else {
    return false;
  }
  if (done.nodes == 0) done.why.clear();
  return true;
}

}  // namespace gedit::optimizing
