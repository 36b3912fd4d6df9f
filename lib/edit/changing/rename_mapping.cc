#include "edit/changing/rename_mapping.h"

#include <algorithm>

#include "graph/colocation.h"
#include "ops/kinds.h"

namespace gedit {

RenameMapping::RenameMapping(RenameRules rules, std::unordered_map<std::string, std::string> functions,
                             bool body, std::set<std::string, std::less<>> owned,
                             std::set<std::string, std::less<>> arguments)
    : rules_(std::move(rules)),
      functions_(std::move(functions)),
      owned_(std::move(owned)),
      arguments_(std::move(arguments)),
      prefix_(rules_.prefix()),
      prefixing_{prefix_.value_or("")},
      body_(body),
      only_nodes_(!body && functions_.empty() && rules_.only_nodes()) {
  if (only_nodes_) search_for_names();
}

// To look for a few names costs less than to take a node's fields apart.
void RenameMapping::search_for_names() {
  constexpr size_t kMostNames = 4;
  rules_.each_pair([&](const OldNew& pair, bool /*scope*/) { searches_.emplace_back(pair.from); });
  if (searches_.size() > kMostNames) searches_.clear();
}

bool RenameMapping::may_mention(std::string_view node_def) const {
  return searches_.empty() || std::any_of(searches_.begin(), searches_.end(), [&](const TextSearch& search) {
           return search.finds_in(node_def);
         });
}

void RenameMapping::node(std::string_view name, std::string& out) const {
  if (arguments_.contains(name)) {
    out += name;
  } else if (prefix_) {
    out += *prefix_;
    out += name;
  } else {
    out += rules_.apply(name);
  }
}

bool RenameMapping::input(const NodeHead& reader, std::string_view input, std::string& out) const {
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
  put_input(parse_body_input(input), out);
  return true;
}

void RenameMapping::identity(const NodeHead& holder, Role role, std::string_view value,
                             std::string& out) const {
  // Of a TemporaryVariable without a var_name this is the node's name.
  const bool temporary = role == Role::kPair && !value.empty() && is(holder.op, OpKind::kTemporary);
  if (role == Role::kFrame) {
    frame(value, out);
  } else if (role == Role::kSharedName) {
    shared_name(holder.name, value, out);
  } else if (temporary) {
    node(value, out);
  } else {
    out += value;
  }
}

// It was a node's own name and stays that, for all that share it; other state keeps its identity.
void RenameMapping::shared_name(std::string_view node, std::string_view value, std::string& out) const {
  if (!value.empty() && (value == node || owned_.contains(value))) {
    this->node(value, out);
  } else {
    out += value;
  }
}

void RenameMapping::frame(std::string_view value, std::string& out) const {
  out += prefix_ ? *prefix_ + std::string(value) : rules_.apply_scopes(value);
}

void RenameMapping::function(std::string_view name, std::string& out) const {
  const auto found = functions_.find(std::string(name));
  out += found == functions_.end() ? name : std::string_view(found->second);
}

bool RenameMapping::leaves(std::string_view node_def) const {
  if (!only_nodes_) return false;
  if (!may_mention(node_def)) return true;
  const std::string_view op = node_op(node_def);
  for (Fields fields(node_def); fields.next();) {
    switch (fields->number) {
      case node_field::kName:
        if (is_renamed(fields->value)) return false;
        break;
      case node_field::kInput:
        if (is_renamed(parse_input(fields->value).node)) return false;
        break;
      case node_field::kAttr:
        // A shared_name follows where it is the node's own name, which stays.
        if (const Role role = attr_role(op, map_key(fields->value)); role == Role::kPair) {
          if (is(op, OpKind::kTemporary)) return false;
          break;
        } else if (role == Role::kSharedName && !owned_.empty()) {
          if (is_renamed(last_bytes(map_entry(fields->value).value, attr_field::kString))) return false;
          break;
        } else if (role != Role::kColocation) {
          break;
        }
        for (Fields list(last_bytes(map_entry(fields->value).value, attr_field::kList)); list.next();) {
          if (const auto node = colocated_with(list->value); node && is_renamed(*node)) return false;
        }
        break;
      default:
        break;
    }
  }
  return true;
}

bool RenamedAround::map(NameKind kind, std::string_view name, std::string& out) const {
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

}  // namespace gedit
