#include "edit/merging/names.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/error.h"
#include "base/first_free.h"
#include "graph/equal.h"
#include "graph/library.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// The node that is `name` in the merged graph, unless it was given another name.
NodeId find_in(const MergePart& part, std::string_view name) {
  if (!name.starts_with(part.prefix)) return kNoNode;
  const std::string_view local = name.substr(part.prefix.size());
  const NodeId id = part.facts.names().find(local);
  if (id == kNoNode || (!part.numbers.empty() && part.numbers[index_of(id)] != 0)) return kNoNode;
  return !part.renamed.empty() && part.renamed.contains(local) ? kNoNode : id;
}

// How two nodes of one name differ, or nothing.
std::string difference(const MergePart& part, NodeId node, const MergePart& other, NodeId twin) {
  const std::string_view a = part.graph().bytes(node), b = other.graph().bytes(twin);
  const NodeHead one = node_head(a), two = node_head(b);
  if (one.op != two.op) return "it is " + printable(one.op) + " here, " + printable(two.op) + " there";
  if (one.device != two.device) return "the devices differ";
  const auto inputs = [](const MergePart& of, std::string_view node_def, NodeId id) {
    std::vector<std::string> texts;
    NodeHead head = node_head(node_def);
    head.id = id;
    each_input(node_def, [&](std::string_view input) {
      std::string text;
      if (of.input(head, input, text)) texts.push_back(canonical_input(text));
      ++head.slot;
    });
    return texts;
  };
  if (inputs(part, a, node) != inputs(other, b, twin)) return "the inputs differ";
  if (same_attrs(a, b) && part.verbatim() && other.verbatim()) return "";
  if (same_attrs(mapped_node(a, part, node), mapped_node(b, other, twin))) return "";
  return "the attributes differ";
}

}  // namespace

Error already_in(const MergePart& part, const MergePart& other, const std::string& subject) {
  const std::string first = printable(other.model.path), second = printable(part.model.path);
  return Error(Cause::kRefused, "already in " + first)
      .in(part.model.path)
      .of(subject)
      .hint("name the graphs (a=" + first + " b=" + second + ") or use --on-conflict");
}

MergedNames::MergedNames(MergeParts& parts, NameConflict on_conflict)
    : parts_(parts), on_conflict_(on_conflict), twins_(parts.size()) {
  for (const auto& part : parts_) {
    part->fresh_instance_key = [this, number = part->number](int64_t key) {
      return instance_key(number, key);
    };
  }
  decide_nodes();
  decide_identities();
}

// Whether a name can come from both.
bool MergedNames::may_meet(const MergePart& a, const MergePart& b) const {
  const MergePart& outer = a.prefix.size() <= b.prefix.size() ? a : b;
  const MergePart& inner = &outer == &a ? b : a;
  if (!inner.prefix.starts_with(outer.prefix)) return false;
  const std::string_view scope = std::string_view(inner.prefix).substr(outer.prefix.size());
  if (scope.empty()) return true;
  for (uint32_t i = 0; i < outer.graph().size(); ++i) {
    if (outer.graph().name(NodeId{i}).starts_with(scope)) return true;
  }
  return false;
}

// The node that got a number: `x_1`.
MergePlace MergedNames::find_numbered(std::string_view name) const {
  const size_t underscore = name.find_last_not_of("0123456789");
  if (underscore == std::string_view::npos || name[underscore] != '_') return {};
  uint32_t number = 0;
  const std::string_view digits = name.substr(underscore + 1);
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (code != std::errc{} || digits.starts_with('0')) return {};
  const std::string_view base = name.substr(0, underscore);
  for (const auto& part : parts_) {
    if (part->numbers.empty() || !base.starts_with(part->prefix)) continue;
    const NodeId id = part->facts.names().find(base.substr(part->prefix.size()));
    if (id != kNoNode && part->numbers[index_of(id)] == number) return {part->number, id};
  }
  return {};
}

// By a node of any operand, whatever it will be called, or by a name that was given.
bool MergedNames::taken(std::string_view name) const {
  if (!added_.empty() && added_.contains(std::string(name))) return true;
  return find_numbered(name).node != kNoNode ||
         std::any_of(parts_.begin(), parts_.end(), [&](const auto& part) {
           return name.starts_with(part->prefix) &&
                  part->facts.names().find(name.substr(part->prefix.size())) != kNoNode;
         });
}

std::string MergedNames::free_name(std::string_view wanted) {
  // A name that was taken stays taken.
  int& next = next_numbers_.try_emplace(std::string(wanted), 1).first->second;
  std::string name = first_free(
      wanted, [&](const std::string& one) { return taken(one); }, next);
  added_.insert(name);
  return name;
}

void MergedNames::decide_nodes() {
  for (size_t later = 1; later < parts_.size(); ++later) {
    MergePart& part = *parts_[later];
    std::vector<size_t> others;
    for (size_t i = 0; i < later; ++i) {
      if (may_meet(*parts_[i], part)) others.push_back(i);
    }
    if (others.empty()) continue;
    std::string name;
    for (uint32_t i = 0; i < part.graph().size(); ++i) {
      const std::string_view local = part.graph().name(NodeId{i});
      name = part.prefix;
      name += local;
      for (const size_t other : others) {
        const NodeId earlier = find_in(*parts_[other], name);
        if (earlier == kNoNode) continue;
        if (on_conflict_ == NameConflict::kError)
          throw already_in(part, *parts_[other], quoted("node", name));
        if (on_conflict_ == NameConflict::kShare) {
          twins_[later].push_back({NodeId{i}, {other, earlier}});
        } else {
          if (part.numbers.empty()) part.numbers.resize(part.graph().size());
          // Of two nodes of one name both are renamed.
          uint32_t& number = part.numbers[index_of(part.facts.names().find(local))];
          if (number != 0) break;
          const size_t size = name.size();
          uint32_t next = 0;
          do {
            name.resize(size);
            name += '_';
            name += std::to_string(++next);
          } while (taken(name));
          number = next;
        }
        break;
      }
    }
  }
}

// Named operands share no identity unless one lies in another's scope, or beside one without a name.
void MergedNames::decide_identities() {
  bool meet = false;
  for (size_t later = 1; later < parts_.size(); ++later) {
    for (size_t i = 0; i < later; ++i) {
      const std::string &a = parts_[i]->prefix, &b = parts_[later]->prefix;
      meet = meet || a.starts_with(b) || b.starts_with(a);
    }
  }
  if (!meet) return;
  std::vector<MergePart*> order;  // those without a name keep what they have
  for (const bool named : {false, true}) {
    for (const auto& part : parts_) {
      if (part->name.empty() != named) order.push_back(part.get());
    }
  }
  bool empty_handles = false;
  std::unordered_map<std::string, const MergePart*> owners;  // of shared names, of operands without a name
  for (size_t i = 0; i < order.size(); ++i) {
    MergePart& part = *order[i];
    const bool keeps = part.name.empty() && on_conflict_ == NameConflict::kShare;
    const bool checked = part.name.empty() && on_conflict_ == NameConflict::kError;
    if (!keeps) {
      for (size_t k = 0; k < i; ++k) part.identities.take_made(order[k]->identities, !checked);
    }
    bool empty_handle = false;
    const auto look = [&](std::string_view node_def) {
      empty_handle = empty_handle || is_handle_without_name(node_def);
      if (checked) check_shared_name(part, node_def, owners);
    };
    part.graph().each_record([&](std::string_view node_def) {
      part.identities.want(node_def);
      look(node_def);
    });
    each_body_node(part.graph().part(graph_field::kLibrary),
                   [&](std::string_view, std::string_view node_def) {
                     part.identities.want_in_body(node_def);
                     look(node_def);
                     if (checked && shares_by_node_name(node_def))
                       take_shared_name(part, node_name(node_def), node_def, owners);
                   });
    part.surveyed = true;
    if (keeps || !part.name.empty()) continue;
    part.name_empty_handles = empty_handles && empty_handle;
    empty_handles = empty_handles || empty_handle;
    part.fresh_identities = part.identities.any_changed();
  }
}

// Throws where an earlier operand has the node's shared_name: there both would be one, unless their
// containers differ (core/framework/resource_mgr.h).
void MergedNames::check_shared_name(const MergePart& part, std::string_view node_def,
                                    std::unordered_map<std::string, const MergePart*>& owners) const {
  each_attr(node_def, [&](std::string_view key, std::string_view value) {
    if (attr_role(node_op(node_def), key) != Role::kSharedName) return;
    const std::string_view name = last_bytes(value, attr_field::kString);
    if (!stays_as_it_is(name)) take_shared_name(part, name, node_def, owners);
  });
}

void MergedNames::take_shared_name(const MergePart& part, std::string_view name, std::string_view node_def,
                                   std::unordered_map<std::string, const MergePart*>& owners) {
  std::string identity(string_attr(node_def, "container").value_or(""));
  identity += '\0';
  identity += name;
  const auto [owner, fresh] = owners.emplace(std::move(identity), &part);
  if (!fresh && owner->second != &part) throw already_in(part, *owner->second, quoted("shared_name", name));
}

// What a collective operation's instance_key becomes: the lowest that no operand before uses, where one does.
int64_t MergedNames::instance_key(size_t number, int64_t key) const {
  if (instance_keys_.empty()) {
    std::set<int64_t> taken;
    int64_t lowest = 0;
    for (const auto& part : parts_) {
      const auto look = [&](std::string_view node_def) {
        if (!is(node_op(node_def), OpKind::kCollective)) return;
        const std::optional<int64_t> own = int_attr(node_def, "instance_key");
        if (!own || instance_keys_.contains({part->number, *own})) return;
        int64_t fresh = *own;
        if (!part->name.empty() && taken.contains(fresh)) {
          while (taken.contains(lowest)) ++lowest;
          fresh = lowest;
        }
        taken.insert(fresh);
        instance_keys_.emplace(std::pair(part->number, *own), fresh);
      };
      part->graph().each_record(look);
      each_body_node(part->graph().part(graph_field::kLibrary),
                     [&](std::string_view, std::string_view node_def) { look(node_def); });
    }
  }
  const auto found = instance_keys_.find({number, key});
  return found == instance_keys_.end() ? key : found->second;
}

std::vector<MergePlace> MergedNames::find(const std::vector<std::string_view>& names) const {
  std::vector<MergePlace> found(names.size());
  for (size_t k = 0; k < names.size(); ++k) {
    found[k] = find_numbered(names[k]);
  }
  for (const auto& part : parts_) {
    std::unordered_map<std::string_view, std::vector<size_t>> wanted;
    uint64_t sizes = 0;  // of the names, modulo 64: most nodes are passed over by that
    for (size_t k = 0; k < names.size(); ++k) {
      if (found[k].node != kNoNode || !names[k].starts_with(part->prefix)) continue;
      const std::string_view local = names[k].substr(part->prefix.size());
      if (part->renamed.contains(local) || (!part->numbers.empty() && find_in(*part, names[k]) == kNoNode))
        continue;
      wanted[local].push_back(k);
      sizes |= uint64_t{1} << (local.size() & 63);
    }
    if (wanted.empty()) continue;
    const auto note = [&](std::string_view local, NodeId id) {
      const auto at = wanted.find(local);
      if (at == wanted.end()) return;
      for (const size_t k : at->second) {
        if (found[k].node == kNoNode) found[k] = {part->number, id};
      }
    };
    if (part->facts.has_names()) {
      for (const auto& [local, places] : wanted) {
        if (const NodeId id = part->facts.names().find(local); id != kNoNode) note(local, id);
      }
      continue;
    }
    for (uint32_t i = 0; i < part->graph().size(); ++i) {
      const std::string_view local = part->graph().name(NodeId{i});
      if ((sizes >> (local.size() & 63) & 1) != 0) note(local, NodeId{i});
    }
  }
  return found;
}

MergePlace MergedNames::written(MergePlace place) const {
  const std::vector<Twin>& twins = twins_[place.part];
  const auto found = std::lower_bound(twins.begin(), twins.end(), place.node,
                                      [](const Twin& twin, NodeId node) { return twin.node < node; });
  return found != twins.end() && found->node == place.node ? found->earlier : place;
}

void MergedNames::share() {
  for (const auto& part : parts_) {
    for (const Twin& twin : twins_[part->number]) {
      const MergePart& other = *parts_[twin.earlier.part];
      const std::string how = difference(*part, twin.node, other, twin.earlier.node);
      if (!how.empty()) {
        throw Error(Cause::kRefused, "differs from that of " + printable(other.model.path) + ": " + how)
            .in(part->model.path)
            .of(quoted("node", part->name_of(part->graph().name(twin.node))))
            .hint("--on-conflict uniquify");
      }
      part->shared.add(twin.node);
    }
  }
}

}  // namespace gedit
