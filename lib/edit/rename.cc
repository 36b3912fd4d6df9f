// A pure prefix is a mapping without a look at any name. Everything else decides once per node what its name
// becomes; names that change to what is there already are found by comparing hashes, so a million nodes need
// no table of strings.
#include "edit/rename.h"

#include <re2/re2.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/map_entry.h"
#include "base/near.h"
#include "edit/around/map.h"
#include "edit/basis/addresses.h"
#include "edit/basis/key_value.h"
#include "edit/basis/names.h"
#include "graph/library.h"
#include "graph/names.h"
#include "model/collections.h"
#include "model/savers.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

struct Pair {
  std::string written, from, to;
};

// `s/RE/REPL/g` taken apart.
struct Expression {
  std::string written;
  std::unique_ptr<RE2> regex;
  std::string rewrite;  // RE2's form: \1, \0
  bool all = false;
  std::optional<std::string> prefix;  // it only puts this in front
};

Expression parse_expression(const std::string& text) {
  if (text.size() < 4 || text[0] != 's')
    throw misused(text, "is no substitution").hint("s/RE/REPLACEMENT/[g]");
  const char delimiter = text[1];
  std::vector<std::string> parts{""};
  for (size_t i = 2; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      if (text[i + 1] != delimiter) parts.back() += text[i];
      parts.back() += text[++i];
    } else if (text[i] == delimiter) {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  if (parts.size() != 3 || (!parts[2].empty() && parts[2] != "g")) {
    throw misused(text, "is no substitution").hint("s/RE/REPLACEMENT/[g]");
  }
  Expression expression;
  expression.written = text;
  expression.all = parts[2] == "g";
  RE2::Options options;
  options.set_log_errors(false);
  expression.regex = std::make_unique<RE2>(parts[0], options);
  if (!expression.regex->ok()) throw misused(text, expression.regex->error());
  bool plain = true;
  std::string literal;
  for (size_t i = 0; i < parts[1].size(); ++i) {
    const char c = parts[1][i];
    if (c == '&') {
      expression.rewrite += "\\0";
      plain = false;
    } else if (c == '\\' && i + 1 < parts[1].size()) {
      const char next = parts[1][++i];
      const bool digit = next >= '0' && next <= '9';
      plain = plain && !digit;
      expression.rewrite += digit ? std::string{'\\', next} : next == '\\' ? "\\\\" : std::string{next};
      literal += next;
    } else {
      expression.rewrite += c;
      literal += c;
    }
  }
  std::string error;
  if (!expression.regex->CheckRewriteString(expression.rewrite, &error)) throw misused(text, error);
  if (parts[0] == "^" && plain) expression.prefix = literal;
  return expression;
}

void substitute(const Expression& expression, std::string& name) {
  if (expression.prefix) {
    name.insert(0, *expression.prefix);
  } else if (expression.all) {
    RE2::GlobalReplace(&name, *expression.regex, expression.rewrite);
  } else {
    RE2::Replace(&name, *expression.regex, expression.rewrite);
  }
}

// The pairs of one place (the main graph, or one function), and what they make of a name.
class Rules {
 public:
  void add(const Pair& pair) {
    if (pair.from == "/") {
      if (!pair.to.ends_with('/'))
        throw misused(pair.written, "a scope becomes a scope").hint("'/=" + pair.to + "/'");
      everything_ = pair;
    } else if (pair.from.ends_with('/')) {
      if (!pair.to.empty() && !pair.to.ends_with('/')) {
        throw misused(pair.written, "a scope becomes a scope").hint("'" + pair.from + "=" + pair.to + "/'");
      }
      add_to(scopes_, pair, pair.from.substr(0, pair.from.size() - 1));
    } else {
      if (pair.to.ends_with('/'))
        throw misused(pair.written, "a node becomes a node")
            .hint("'" + pair.from + "/=" + pair.to + "' renames a scope");
      add_to(nodes_, pair, pair.from);
    }
  }
  void add(Expression expression) { expressions_.push_back(std::move(expression)); }

  bool empty() const { return nodes_.empty() && scopes_.empty() && !everything_ && expressions_.empty(); }

  // Where all that is asked for puts one prefix before every name.
  std::optional<std::string> prefix() const {
    if (!nodes_.empty() || !scopes_.empty()) return std::nullopt;
    std::string prefix = everything_ ? everything_->to : "";
    for (const Expression& expression : expressions_) {
      if (!expression.prefix) return std::nullopt;
      prefix = *expression.prefix + prefix;
    }
    return prefix;
  }

  // The pair that decides about the name: its own, else the longest scope's, else everything's.
  const Pair* pair_for(std::string_view name) const {
    if (const auto found = nodes_.find(std::string(name)); found != nodes_.end()) return &found->second;
    return scope_for(name);
  }

  std::string apply(std::string_view name) const {
    std::string result(name);
    if (const Pair* pair = pair_for(name)) result = moved(*pair, name);
    for (const Expression& expression : expressions_) substitute(expression, result);
    return result;
  }

  // A name that is no node's, such as a frame: scopes alone move it.
  std::string apply_scopes(std::string_view name) const {
    const Pair* pair = scope_for(name);
    return pair == nullptr ? std::string(name) : moved(*pair, name);
  }

  // Calls use(pair, is_scope).
  template <typename Use>
  void each_pair(Use use) const {
    for (const auto& [from, pair] : nodes_) use(pair, false);
    for (const auto& [from, pair] : scopes_) use(pair, true);
  }
  const std::vector<Expression>& expressions() const { return expressions_; }

 private:
  using Table = std::unordered_map<std::string, Pair>;

  static void add_to(Table& table, const Pair& pair, std::string key) {
    if (!table.emplace(std::move(key), pair).second)
      throw misused(pair.written, "'" + pair.from + "' is given twice");
  }

  static std::string moved(const Pair& pair, std::string_view name) {
    if (pair.from == "/") return pair.to + std::string(name);
    if (!pair.from.ends_with('/')) return pair.to;
    if (name.size() + 1 == pair.from.size())
      return pair.to.substr(0, pair.to.empty() ? 0 : pair.to.size() - 1);
    return pair.to + std::string(name.substr(pair.from.size()));
  }

  const Pair* scope_for(std::string_view name) const {
    if (!scopes_.empty()) {
      for (size_t end = name.size(); end != std::string_view::npos;
           end = end == 0 ? end : name.rfind('/', end - 1)) {
        if (const auto found = scopes_.find(std::string(name.substr(0, end))); found != scopes_.end())
          return &found->second;
        if (end == 0) break;
      }
    }
    return everything_ ? &*everything_ : nullptr;
  }

  Table nodes_, scopes_;
  std::optional<Pair> everything_;
  std::vector<Expression> expressions_;
};

// Nodes follow the rules, functions their table.
class RenameMapping final : public Mapping {
 public:
  RenameMapping(Rules rules, std::unordered_map<std::string, std::string> functions, bool body)
      : rules_(std::move(rules)),
        functions_(std::move(functions)),
        prefix_(rules_.prefix()),
        prefixing_{prefix_.value_or("")},
        body_(body) {}

  void node(std::string_view name, std::string& out) const override {
    if (prefix_) {
      out += *prefix_;
      out += name;
    } else {
      out += rules_.apply(name);
    }
  }
  bool input(const NodeHead& reader, std::string_view input, std::string& out) const override {
    if (!body_ && prefix_) {
      if (input.starts_with('^')) {
        out += '^';
        input.remove_prefix(1);
      }
      out += *prefix_;
      out += input;
      return true;
    }
    if (!body_) return Mapping::input(reader, input, out);
    const Input parsed = parse_body_input(input);
    if (parsed.control) out += '^';
    node(parsed.node, out);
    if (!parsed.port.empty()) {
      out += ':';
      out += parsed.port;
    }
    return true;
  }
  void identity(const NodeHead& holder, Role role, std::string_view value, std::string& out) const override {
    if (role == Role::kFrame) {
      frame(value, out);
    } else if (role == Role::kSharedName && !value.empty() && value == holder.name) {
      node(value, out);  // it was the node's own name and stays that; other state keeps its identity
    } else {
      out += value;
    }
  }
  void frame(std::string_view value, std::string& out) const {
    out += prefix_ ? *prefix_ + std::string(value) : rules_.apply_scopes(value);
  }
  void function(std::string_view name, std::string& out) const override {
    const auto found = functions_.find(std::string(name));
    out += found == functions_.end() ? name : std::string_view(found->second);
  }
  bool maps_functions() const override { return !functions_.empty(); }
  const Prefixing* prefixing(NodeId /*id*/) const override {
    return prefix_ && !body_ && functions_.empty() ? &prefixing_ : nullptr;
  }

 private:
  Rules rules_;
  std::unordered_map<std::string, std::string> functions_;
  std::optional<std::string> prefix_;
  Prefixing prefixing_;
  bool body_;
};

class SurroundingNames final : public NameMap {
 public:
  explicit SurroundingNames(const RenameMapping& mapping) : mapping_(mapping) {}
  bool map(NameKind kind, std::string_view name, std::string& out) const override {
    switch (kind) {
      case NameKind::kNode:
        return mapping_.input({}, name, out);
      case NameKind::kContext:
        mapping_.frame(name, out);
        return true;
      case NameKind::kVariable:
        mapping_.node(name, out);
        return true;
      case NameKind::kFunction:
        mapping_.function(name, out);
        return true;
    }
    return true;
  }

 private:
  const RenameMapping& mapping_;
};

// Checks that every pair hits something and that the new names are names and differ.
void check(const Graph& graph, const Rules& rules, const std::vector<std::string_view>& arguments,
           std::vector<Renamed>* renamed) {
  const Names names(graph);
  rules.each_pair([&](const Pair& pair, bool scope) {
    bool hit = !scope && names.find(pair.from) != kNoNode;
    Near near(scope ? pair.from.substr(0, pair.from.size() - 1) : pair.from);
    std::unordered_set<std::string_view> seen;
    for (uint32_t i = 0; i < graph.size() && !hit; ++i) {
      const std::string_view name = graph.name(NodeId{i});
      if (!scope) {
        near.offer(name);
        continue;
      }
      hit =
          name.starts_with(pair.from) || name == std::string_view(pair.from).substr(0, pair.from.size() - 1);
      for (size_t slash = name.find('/'); slash != std::string_view::npos;
           slash = name.find('/', slash + 1)) {
        if (seen.insert(name.substr(0, slash)).second) near.offer(name.substr(0, slash));
      }
    }
    if (hit) return;
    if (!scope)
      throw Error(Cause::kRefused, "no such node").of(quoted("node", pair.from)).hint(near.did_you_mean());
    throw Error(Cause::kRefused, "nothing is in it")
        .of(quoted("scope", pair.from))
        .hint(near.best().empty() ? "" : "did you mean '" + near.best() + "/'?");
  });

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
    if (renamed != nullptr) renamed->push_back({std::string(name), to});
  }
  if (!any && !rules.expressions().empty()) {
    const std::string& written = rules.expressions().front().written;
    throw Error(Cause::kRefused, "changes no name").of("'" + printable(written) + "'");
  }
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
    const Pair* pair = rules.pair_for(moved);
    const std::string written = pair != nullptr ? pair->written : std::string(moved) + "=" + to;
    throw Error(Cause::kRefused, both ? "'" + printable(other->second) + "' and '" + printable(name) +
                                            "' both become '" + printable(to) + "'"
                                      : "'" + printable(to) + "' is taken")
        .of("'" + printable(written) + "'")
        .hint(both ? "" : "rename that too");
  }
}

Pair parse_pair(const std::string& written, std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) throw misused(written, "is no OLD=NEW");
  Pair pair{written, std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
  if (pair.to.empty() && !pair.from.ends_with('/')) throw misused(written, "the new name is missing");
  if (pair.from == "/" && pair.to.empty()) throw misused(written, "the new name is missing");
  return pair;
}

// ret and control_ret of a function name its nodes.
void map_returns(Graph& body, const RenameMapping& mapping) {
  for (const uint32_t field : {function_field::kRet, function_field::kControlRet}) {
    std::vector<std::string> entries;
    for (const Part& part : body.parts()) {
      if (part.field != field) continue;
      const MapEntry entry = map_entry(record_at(part.raw.data()).node_def);
      std::string value;
      mapping.input({}, entry.value, value);
      entries.push_back(map_entry_bytes(entry.key, value));
    }
    body.set_parts(field, std::move(entries));
  }
}

void rename_in_functions(Model& model, std::unordered_map<std::string, Rules>& bodies,
                         std::vector<Renamed>* renamed) {
  Graph& graph = model.graph();
  Library library = Library::decode(graph.part(graph_field::kLibrary), model.arena);
  for (auto& [name, rules] : bodies) {
    Function& function = find_function(library, name);
    function.body.decode();
    const size_t before = renamed == nullptr ? 0 : renamed->size();
    check(function.body, rules, argument_names(function_signature(function.body)), renamed);
    if (renamed != nullptr) {
      for (size_t i = before; i < renamed->size(); ++i) {
        (*renamed)[i].from.insert(0, name + "//");
        (*renamed)[i].to.insert(0, name + "//");
      }
    }
    const auto mapping = std::make_shared<const RenameMapping>(
        std::move(rules), std::unordered_map<std::string, std::string>(), true);
    map_returns(function.body, *mapping);
    function.body.map_all(mapping);
  }
  graph.set_part(graph_field::kLibrary, library.encode());
}

// Every function that is renamed exists, and no two functions, nor a function and an op, end up with one
// name.
void check_functions(const Model& model, Registry& ops, const std::vector<Pair>& pairs) {
  std::unordered_map<std::string_view, int> count;
  for (Fields library(model.graph().part(graph_field::kLibrary)); library.next();) {
    if (library->bytes(1)) count[function_name(library->value)] = 1;
  }
  for (const Pair& pair : pairs) {
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
  for (const Pair& pair : pairs) {
    const bool fresh = !count.contains(pair.to);
    if (++count[pair.to] > 1 || (fresh && !ops.find(pair.to).empty())) {
      throw Error(Cause::kRefused, "'" + printable(pair.to) + "' is taken")
          .of("'" + printable(pair.written) + "'");
    }
  }
}

}  // namespace

KeyMap renamed_keys(Model& model, const RenameRequest& request) {
  constexpr uint32_t kSliceInfo = 4, kFullName = 1;  // VariableDef.save_slice_info_def
  Rules rules;
  for (const std::string& written : read_pairs(request.pairs)) {
    const std::string_view text = written;
    const size_t inside = text.find("//");
    if (text.starts_with("fn:") ||
        (inside != std::string_view::npos && inside < text.find('=') && inside > 0))
      continue;
    rules.add(parse_pair(written, text));
  }
  for (const std::string& expression : request.expressions) rules.add(parse_expression(expression));
  Graph& graph = model.graph();
  graph.decode();
  const Names names(graph);
  const Savers savers = find_savers(graph, names, reversed(producers(graph, names)),
                                    variable_initializers(model.meta(), names));
  KeyMap keys;
  const auto add = [&](const std::string& key, NodeId variable) {
    if (variable == kNoNode) return;
    // A part of a partitioned variable has the whole's name as its key: `w` for `w/part_0`.
    const std::string_view name = graph.name(variable);
    if (name != key && !name.starts_with(key + "/part_")) return;
    if (std::string to = rules.apply(key); to != key) keys[key] = std::move(to);
  };
  for (const SaverNode& save : savers.saves) {
    for (const SavedTensor& tensor : save.tensors) add(tensor.key, tensor.variable);
  }
  for (const SaverNode& restore : savers.restores) {
    for (const SavedTensor& tensor : restore.tensors) add(tensor.key, tensor.variable);
  }
  if (savers.empty() && !model.meta().has(meta_field::kObjectGraph)) {
    // Where the graph has no saver, TensorFlow makes one of the variables that collections describe, or of
    // all.
    std::unordered_set<NodeId> parts;
    for (const Collection& collection : collections(model.meta())) {
      if (collection.kind != collection_kind::kBytesList || !holds_variables(collection.key)) continue;
      for (const std::string_view def : collection.items) {
        const std::string_view whole = last_bytes(last_bytes(def, kSliceInfo), kFullName);
        const NodeId part = names.find(node_of(variable_names(def).variable));
        if (whole.empty() || part == kNoNode) continue;
        parts.insert(part);
        add(std::string(whole), part);
      }
    }
    for (uint32_t i = 0; i < graph.size(); ++i) {
      const NodeId id{i};
      if (is_variable_op(node_op(graph.bytes(id))) && !parts.contains(id))
        add(std::string(graph.name(id)), id);
    }
  }
  return keys;
}

void rename(Model& model, Registry& ops, const RenameRequest& request, std::vector<Renamed>* renamed) {
  Rules rules;
  std::unordered_map<std::string, std::string> function_names;
  std::unordered_map<std::string, Rules> bodies;
  std::vector<Pair> functions;
  for (const std::string& written : read_pairs(request.pairs)) {
    std::string_view text = written;
    if (text.starts_with("fn:")) {
      functions.push_back(parse_pair(written, text.substr(3)));
      function_names[functions.back().from] = functions.back().to;
    } else if (const size_t inside = text.find("//");
               inside != std::string_view::npos && inside < text.find('=') && inside > 0) {
      bodies[std::string(text.substr(0, inside))].add(parse_pair(written, text.substr(inside + 2)));
    } else {
      rules.add(parse_pair(written, text));
    }
  }
  for (const std::string& expression : request.expressions) rules.add(parse_expression(expression));

  Graph& graph = model.graph();
  if (!bodies.empty()) rename_in_functions(model, bodies, renamed);
  if (!functions.empty()) {
    check_functions(model, ops, functions);
    for (const Pair& pair : functions) {
      if (renamed != nullptr) renamed->push_back({"fn:" + pair.from, "fn:" + pair.to});
    }
  }
  if (rules.empty() && functions.empty()) return;
  const std::optional<std::string> prefix = rules.prefix();
  if (prefix && renamed == nullptr) {
    // One look at the prefix tells for all names: what is valid stays valid behind it, and different names
    // stay different.
    const std::string sample = *prefix + "x";
    if (const size_t at = invalid_name_at(sample); at != std::string_view::npos)
      throw not_a_node_name(sample);
  } else if (!rules.empty()) {
    graph.decode();
    check(graph, rules, {}, renamed);
  }
  if (!functions.empty()) {  // bodies name functions, and no node of the main graph
    const RenameMapping inside({}, function_names, false);
    graph.set_part(graph_field::kLibrary, map_library(graph.part(graph_field::kLibrary), inside));
  }
  const auto mapping =
      std::make_shared<const RenameMapping>(std::move(rules), std::move(function_names), false);
  map_surroundings(model.meta(), SurroundingNames(*mapping));
  graph.map_all(mapping);
}

}  // namespace gedit
