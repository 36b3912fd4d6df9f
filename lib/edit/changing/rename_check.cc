// Names that change to what is there already are found by comparing hashes, so a million nodes need no table
// of strings.
#include "edit/changing/rename_check.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/near.h"
#include "edit/basis/names.h"
#include "edit/changing/shared_state.h"
#include "graph/function_places.h"
#include "graph/library.h"
#include "graph/names.h"
#include "model/model.h"

namespace gedit {
namespace {

// Calls use(scope) for every scope that the name lies in, the name itself among them.
template <typename Use>
void each_scope_of(std::string_view name, Use use) {
  for (size_t slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/', slash + 1))
    use(name.substr(0, slash));
  use(name);
}

[[noreturn]] void refuse_missing(const Graph& graph, const OldNew& pair, bool scope) {
  const std::string wanted = scope ? pair.from.substr(0, pair.from.size() - 1) : pair.from;
  Near near(wanted);
  std::unordered_set<std::string_view> seen;
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const std::string_view name = graph.name(NodeId{i});
    if (!scope) {
      near.offer(name);
      continue;
    }
    each_scope_of(name, [&](std::string_view one) {
      if (one.size() < name.size() && seen.insert(one).second) near.offer(one);
    });
  }
  if (!scope) {
    const Error error = refused("no such node").of(quoted("node", pair.from));
    for (uint32_t i = 0; i < graph.size(); ++i) {
      if (graph.name(NodeId{i}).starts_with(pair.from + "/"))
        throw error.hint("it is a scope: " + printable(pair.from) + "/=" + printable(pair.to) + "/");
    }
    const std::string place =
        place_in_functions(graph.part(graph_field::kLibrary), *graph.arena(), pair.from);
    throw error.hint(place.empty() ? near.did_you_mean() : place);
  }
  throw refused("nothing is in it")
      .of(quoted("scope", pair.from))
      .hint(near.best().empty() ? "" : "did you mean '" + printable(near.best()) + "/'?");
}

// Every pair hits something.
void check_hits(const Graph& graph, const RenameRules& rules) {
  const Names names(graph);
  std::unordered_map<std::string_view, const OldNew*> empty;  // scopes in which nothing was found yet
  rules.each_pair([&](const OldNew& pair, bool scope) {
    if (scope) {
      empty.emplace(std::string_view(pair.from).substr(0, pair.from.size() - 1), &pair);
    } else if (names.find(pair.from) == kNoNode) {
      refuse_missing(graph, pair, false);
    }
  });
  for (uint32_t i = 0; i < graph.size() && !empty.empty(); ++i)
    each_scope_of(graph.name(NodeId{i}), [&](std::string_view scope) { empty.erase(scope); });
  if (!empty.empty()) refuse_missing(graph, *empty.begin()->second, true);
}

// `hashes` of all names as they will be.
void check_different(const Graph& graph, const RenameRules& rules, std::vector<uint64_t> hashes) {
  std::sort(hashes.begin(), hashes.end());
  const auto twice = [&](uint64_t hash) {
    const auto range = std::equal_range(hashes.begin(), hashes.end(), hash);
    return range.second - range.first > 1;
  };
  if (std::adjacent_find(hashes.begin(), hashes.end()) == hashes.end()) return;
  std::unordered_map<std::string, std::string_view> taken;  // only names whose hash comes twice
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const std::string_view name = graph.name(NodeId{i});
    const std::string to = rules.apply(name);
    if (!twice(name_hash(to))) continue;
    const auto [other, fresh] = taken.emplace(to, name);
    if (fresh || (other->second == to && name == to))
      continue;  // two nodes of one name before: not this edit's doing
    const std::string_view moved = name == to ? other->second : name;
    const bool both = other->second != to && name != to;
    const OldNew* pair = rules.pair_for(moved);
    const std::string written = pair != nullptr ? pair->written : std::string(moved) + "=" + to;
    throw Error(Cause::kRefused, both ? "'" + printable(other->second) + "' and '" + printable(name) +
                                            "' both become '" + printable(to) + "'"
                                      : "'" + printable(to) + "' is taken")
        .of("'" + printable(written) + "'")
        .hint(both ? "" : "rename that too");
  }
}

// As TensorFlow makes them: `__inference_<lambda>_7` among them.
bool is_function_name(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && letter(name[0]) && std::ranges::all_of(name, [&](char c) {
    return letter(c) || std::string_view("./-<>").find(c) != std::string_view::npos;
  });
}

}  // namespace

bool renames_plainly(const Graph& graph, const RenameRules& rules) {
  if (!rules.only_nodes()) return false;
  std::unordered_map<std::string_view, int> found, taken;  // old and new names: nodes that have them
  uint64_t sizes = 0;                                      // of the new names, modulo 64
  bool plain = true;
  rules.each_pair([&](const OldNew& pair, bool /*scope*/) {
    plain = plain && invalid_name_at(pair.to) == std::string_view::npos && taken.emplace(pair.to, 0).second;
    found.emplace(pair.from, 0);
    sizes |= uint64_t{1} << (pair.to.size() & 63);
  });
  if (!plain) return false;
  const auto named = graph.records_where([&](std::string_view node_def) {
    const std::string_view name = node_name(node_def);
    return rules.new_name(name) != nullptr ||
           ((sizes >> (name.size() & 63) & 1) != 0 && taken.contains(name));
  });
  for (const std::string_view node_def : named) {
    const std::string_view name = node_name(node_def);
    const bool old = rules.new_name(name) != nullptr;
    if (old && is_state_of_its_name(node_def)) return false;
    ++(old ? found : taken).at(name);
  }
  return std::all_of(found.begin(), found.end(), [](const auto& node) { return node.second == 1; }) &&
         std::all_of(taken.begin(), taken.end(), [](const auto& node) { return node.second == 0; });
}

void check_renamed(const Graph& graph, const RenameRules& rules,
                   const std::vector<std::string_view>& arguments, RenamedNodes* renamed) {
  check_hits(graph, rules);
  std::vector<uint64_t> hashes;  // of all names as they will be
  hashes.reserve(graph.size());
  bool any = false;
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const std::string_view name = graph.name(NodeId{i});
    const std::string to = rules.apply(name);
    hashes.push_back(name_hash(to));
    if (to == name) continue;
    any = true;
    if (const size_t at = invalid_name_at(to);
        at != std::string_view::npos && invalid_name_at(name) == std::string_view::npos) {
      throw not_a_node_name(to);
    }
    if (std::find(arguments.begin(), arguments.end(), to) != arguments.end()) {
      throw Error(Cause::kRefused, "is the name of an argument").of("'" + printable(to) + "'");
    }
    if (renamed != nullptr) renamed->emplace_back(name, to);
  }
  if (!any && !rules.expressions().empty()) {
    const std::string& written = rules.expressions().front().text();
    throw Error(Cause::kRefused, "changes no name").of("'" + printable(written) + "'");
  }
  check_different(graph, rules, std::move(hashes));
}

void check_renamed_functions(std::string_view library, Registry& ops, const std::vector<OldNew>& pairs) {
  std::unordered_map<std::string_view, int> count;
  for (Fields fields(library); fields.next();) {
    if (fields->bytes(1)) count[function_name(fields->value)] = 1;
  }
  for (const OldNew& pair : pairs) {
    const auto found = count.find(pair.from);
    if (found == count.end()) {
      Near near(pair.from);
      for (const auto& [name, number] : count) near.offer(name);
      throw Error(Cause::kRefused, "no such function")
          .of(quoted("function", pair.from))
          .hint(near.did_you_mean());
    }
    --found->second;
  }
  for (const OldNew& pair : pairs) {
    if (!is_function_name(pair.to))
      throw Error(Cause::kRefused, "not a function's name").of("'" + printable(pair.to) + "'");
    const bool fresh = !count.contains(pair.to);
    if (++count[pair.to] > 1 || (fresh && !ops.find(pair.to).empty())) {
      throw Error(Cause::kRefused, "'" + printable(pair.to) + "' is taken")
          .of("'" + printable(pair.written) + "'");
    }
  }
}

}  // namespace gedit
