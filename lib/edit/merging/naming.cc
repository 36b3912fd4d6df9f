#include "edit/merging/naming.h"

#include <algorithm>

#include "base/first_free.h"
#include "base/number.h"
#include "base/parallel.h"
#include "edit/basis/names.h"
#include "graph/library.h"

namespace gedit {
namespace {

// Whether a name can come from both.
bool may_meet(const OperandFile& a, const OperandFile& b) {
  const OperandFile& outer = a.prefix.size() <= b.prefix.size() ? a : b;
  const OperandFile& inner = &outer == &a ? b : a;
  if (!inner.prefix.starts_with(outer.prefix)) return false;
  const std::string_view scope = std::string_view(inner.prefix).substr(outer.prefix.size());
  return scope.empty() || any_name_begins(outer.graph(), scope);
}

class Naming {
 public:
  Naming(const OperandFiles& files, NameConflict on_conflict) : files_(files), on_conflict_(on_conflict) {
    std::vector<const OperandFile*> all;
    for (const auto& file : files_) all.push_back(file.get());
    const auto instance_keys = std::make_shared<const InstanceKeys>(std::move(all));
    for (const auto& file : files_) {
      names_.push_back(std::make_unique<OperandNames>(*file));
      names_.back()->instance_keys = instance_keys;
      nodes_.add(*file, *names_.back());
    }
  }

  std::vector<std::unique_ptr<const OperandNames>> run() {
    decide_nodes();
    decide_identities();
    return {std::make_move_iterator(names_.begin()), std::make_move_iterator(names_.end())};
  }

 private:
  using Owners = std::unordered_map<std::string, const OperandFile*>;  // of shared names

  void decide_nodes();
  std::vector<OperandNames::Twin> find_met(const OperandFile& file, const std::vector<size_t>& others) const;
  void decide_identities();
  static void check_shared_name(const OperandFile& file, std::string_view node_def, Owners& owners);
  static void take_shared_name(const OperandFile& file, std::string_view name, std::string_view node_def,
                               Owners& owners);

  const OperandFiles& files_;
  const NameConflict on_conflict_;
  std::vector<std::unique_ptr<OperandNames>> names_;
  NodeNames nodes_;
};

void Naming::decide_nodes() {
  for (size_t later = 1; later < files_.size(); ++later) {
    const OperandFile& file = *files_[later];
    OperandNames& names = *names_[later];
    std::vector<size_t> others;
    for (size_t i = 0; i < later; ++i) {
      if (may_meet(*files_[i], file)) others.push_back(i);
    }
    if (others.empty()) continue;
    for (const auto& [node, earlier] : find_met(file, others)) {
      const std::string_view local = file.graph().name(node);
      const std::string name = file.prefix + std::string(local);
      if (on_conflict_ == NameConflict::kError)
        throw already_in(file.model, files_[earlier.part]->model, quoted("node", name));
      if (on_conflict_ == NameConflict::kShare) {
        names.twins.push_back({node, earlier});
        continue;
      }
      if (names.numbers.empty()) names.numbers.resize(file.graph().size());
      // Of two nodes of one name both are renamed.
      uint32_t& number = names.numbers[index_of(file.facts.names().find(local))];
      if (number != 0) continue;
      int next = 1;
      first_free(
          name, [&](const std::string& one) { return nodes_.taken(one); }, next);
      number = static_cast<uint32_t>(next) - 1;
    }
  }
}

// Nodes whose names the operands `others`, which come before, have too, in order, and the first of these.
std::vector<OperandNames::Twin> Naming::find_met(const OperandFile& file,
                                                 const std::vector<size_t>& others) const {
  struct Other {
    size_t number;
    const Names& names;  // made by one thread
    bool beside;         // in the same scope: what differs in the files does so here
  };
  std::vector<Other> known;
  for (const size_t other : others)
    known.push_back({other, files_[other]->facts.names(), files_[other]->prefix == file.prefix});
  const Graph& graph = file.graph();
  const auto find = [&](PieceRange nodes) {
    std::vector<OperandNames::Twin> found;
    constexpr uint32_t kAhead = 16;
    std::string name = file.prefix;
    const auto find_in = [&](const Other& other, NodeId id) {
      if (other.beside) {
        other.names.expect(graph.hash(NodeId{std::min(index_of(id) + kAhead, nodes.end - 1)}));
        const NodeId earlier = other.names.find_as(graph, id);
        return names_[other.number]->number(earlier) != 0 ? kNoNode : earlier;
      }
      name.resize(file.prefix.size());
      name += graph.name(id);
      return nodes_.find_in(other.number, name);
    };
    for (uint32_t i = nodes.begin; i < nodes.end; ++i) {
      for (const Other& other : known) {
        const NodeId earlier = find_in(other, NodeId{i});
        if (earlier == kNoNode) continue;
        found.push_back({NodeId{i}, {other.number, earlier}});
        break;
      }
    }
    return found;
  };
  return found_in_pieces(graph.size(), find);
}

// Named operands share no identity unless one lies in another's scope, or beside one without a name.
void Naming::decide_identities() {
  bool meet = false;
  for (size_t later = 1; later < files_.size(); ++later) {
    for (size_t i = 0; i < later; ++i) {
      const std::string &a = files_[i]->prefix, &b = files_[later]->prefix;
      meet = meet || a.starts_with(b) || b.starts_with(a);
    }
  }
  if (!meet) return;
  std::vector<const OperandFile*> order;  // those without a name keep what they have
  for (const bool named : {false, true}) {
    for (const auto& file : files_) {
      if (file->name.empty() != named) order.push_back(file.get());
    }
  }
  bool empty_handles = false;
  std::unordered_map<std::string, const OperandFile*> owners;  // of shared names, of operands without a name
  for (size_t i = 0; i < order.size(); ++i) {
    const OperandFile& file = *order[i];
    OperandNames& names = *names_[file.number];
    const bool keeps = file.name.empty() && on_conflict_ == NameConflict::kShare;
    const bool checked = file.name.empty() && on_conflict_ == NameConflict::kError;
    if (!keeps) {
      for (size_t k = 0; k < i; ++k)
        names.identities.take_made(names_[order[k]->number]->identities, !checked);
    }
    bool empty_handle = false;
    const auto look = [&](std::string_view node_def) {
      empty_handle = empty_handle || is_handle_without_name(node_def);
      if (checked) check_shared_name(file, node_def, owners);
    };
    const Graph& graph = file.graph();
    for (const NodeId id : identity_holders(graph)) {
      names.identities.want(graph.bytes(id));
      look(graph.bytes(id));
    }
    each_body_node(file.graph().part(graph_field::kLibrary), *file.graph().arena(),
                   [&](std::string_view, std::string_view node_def) {
                     names.identities.want_in_body(node_def);
                     look(node_def);
                     if (checked && shares_by_node_name(node_def))
                       take_shared_name(file, node_name(node_def), node_def, owners);
                   });
    names.surveyed = true;
    if (keeps || !file.name.empty()) continue;
    names.name_empty_handles = empty_handles && empty_handle;
    empty_handles = empty_handles || empty_handle;
    names.fresh_identities = names.identities.any_changed();
  }
}

// Throws where an earlier operand has the node's shared_name: there both would be one, unless their
// containers differ (core/framework/resource_mgr.h).
void Naming::check_shared_name(const OperandFile& file, std::string_view node_def,
                               std::unordered_map<std::string, const OperandFile*>& owners) {
  each_attr(node_def, [&](std::string_view key, std::string_view value) {
    if (attr_role(node_op(node_def), key) != Role::kSharedName) return;
    const std::string_view name = last_bytes(value, attr_field::kString);
    if (!stays_as_it_is(name)) take_shared_name(file, name, node_def, owners);
  });
}

void Naming::take_shared_name(const OperandFile& file, std::string_view name, std::string_view node_def,
                              std::unordered_map<std::string, const OperandFile*>& owners) {
  std::string identity(string_attr(node_def, "container").value_or(""));
  identity += '\0';
  identity += name;
  const auto [owner, fresh] = owners.emplace(std::move(identity), &file);
  if (!fresh && owner->second != &file)
    throw already_in(file.model, owner->second->model, quoted("shared_name", name));
}

}  // namespace

Error already_in(const Model& model, const Model& other, const std::string& subject) {
  const std::string first = printable(other.path), second = printable(model.path);
  return Error(Cause::kRefused, "already in " + first)
      .in(model.path)
      .of(subject)
      .hint("name the graphs (a=" + first + " b=" + second + ") or use --on-conflict");
}

NodeId NodeNames::find_in(size_t operand, std::string_view name) const {
  const auto& [file, names] = operands_[operand];
  if (!name.starts_with(file->prefix)) return kNoNode;
  const NodeId id = file->facts.names().find(name.substr(file->prefix.size()));
  return names->number(id) != 0 ? kNoNode : id;
}

MergePlace NodeNames::find_numbered(std::string_view name) const {
  const size_t underscore = name.find_last_not_of("0123456789");
  if (underscore == std::string_view::npos || name[underscore] != '_') return {};
  const std::string_view digits = name.substr(underscore + 1);
  const std::optional<uint32_t> number = read_number<uint32_t>(digits);
  if (!number || digits.starts_with('0')) return {};
  const std::string_view base = name.substr(0, underscore);
  for (const auto& [file, names] : operands_) {
    if (names->numbers.empty() || !base.starts_with(file->prefix)) continue;
    const NodeId id = file->facts.names().find(base.substr(file->prefix.size()));
    if (id != kNoNode && names->number(id) == *number) return {file->number, id};
  }
  return {};
}

bool NodeNames::taken(std::string_view name) const {
  return find_numbered(name).node != kNoNode ||
         std::any_of(operands_.begin(), operands_.end(), [&](const Named& operand) {
           const std::string& prefix = operand.file->prefix;
           return name.starts_with(prefix) &&
                  operand.file->facts.names().find(name.substr(prefix.size())) != kNoNode;
         });
}

std::vector<std::unique_ptr<const OperandNames>> name_operands(const OperandFiles& files,
                                                               NameConflict on_conflict) {
  return Naming(files, on_conflict).run();
}

}  // namespace gedit
