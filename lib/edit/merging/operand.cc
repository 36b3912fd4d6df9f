#include "edit/merging/operand.h"

#include <algorithm>

#include "ops/kinds.h"

namespace gedit {

const Names& GraphFacts::names() const {
  if (!names_) names_.emplace(graph_);
  return *names_;
}

const Edges& GraphFacts::producers() const {
  if (!producers_) producers_ = gedit::producers(graph_, names());
  return *producers_;
}

const Edges& GraphFacts::consumers() const {
  if (!consumers_) consumers_ = reversed(producers());
  return *consumers_;
}

MergePart::MergePart(size_t position, MergeOperand operand)
    : number(position),
      model(std::move(operand.model)),
      ops(std::move(operand.ops)),
      name(std::move(operand.name)),
      prefix(name.empty() ? "" : name + "/"),
      scope("", false, name),
      identities(scope),
      facts(model.graph()),
      special(model.graph().size()),
      removed(model.graph().size()),
      shared(model.graph().size()),
      fresh_identities(!name.empty()),
      name_empty_handles(!name.empty()) {}

bool MergePart::verbatim() const {
  return prefix.empty() && numbers.empty() && renamed.empty() && replaced.empty() && functions.empty() &&
         !fresh_identities && !name_empty_handles && !may_be_stale && removed.empty();
}

void MergePart::settle() {
  prefixing_ = {prefix, fresh_identities, may_be_stale};
  bool made = false;  // a name that is not M of the old one
  for (const Role role : {Role::kFrame, Role::kSharedName, Role::kPair}) {
    for (const auto& [from, to] : identities.made(role)) made = made || to != scope.of(from);
  }
  prefixes_ = numbers.empty() && functions.empty() && !made && (fresh_identities == name_empty_handles);
}

void MergePart::node(std::string_view node, std::string& out) const {
  if (!renamed.empty()) {
    if (const auto found = renamed.find(node); found != renamed.end()) {
      out += found->second;
      return;
    }
  }
  out += prefix;
  out += node;
  if (numbers.empty()) return;
  const NodeId id = facts.names().find(node);
  if (id == kNoNode || numbers[index_of(id)] == 0) return;
  out += '_';
  out += std::to_string(numbers[index_of(id)]);
}

const Prefixing* MergePart::prefixing(NodeId id) const {
  return prefixes_ && !special.has(id) ? &prefixing_ : nullptr;
}

bool MergePart::input(const NodeHead& reader, std::string_view input, std::string& out) const {
  if (!replaced.empty()) {
    if (!dropped_inputs.empty() && reader.id != kNoNode &&
        dropped_inputs.contains(uint64_t{index_of(reader.id)} << 32 | reader.slot))
      return false;
    if (const auto found = replaced.find(canonical_input(input)); found != replaced.end()) {
      out += found->second;
      return true;
    }
  }
  return Mapping::input(reader, input, out);
}

bool MergePart::colocation(const NodeHead& holder, std::string_view target, std::string& out) const {
  if (target != holder.name && !(name.empty() && removed.empty())) {
    const NodeId id = facts.names().find(target);
    if (id == kNoNode ? !name.empty() : removed.has(id)) return false;
  }
  node(target, out);
  return true;
}

void MergePart::identity(const NodeHead& holder, Role role, std::string_view value, std::string& out) const {
  if (value.empty() && role == Role::kSharedName && is_var_handle_op(holder.op) && name_empty_handles) {
    node(holder.name, out);
  } else if (fresh_identities) {
    identities.append(role, value, out);
  } else {
    out += value;
  }
}

int64_t MergePart::instance_key(int64_t key) const {
  if (!fresh_identities) return key;
  return surveyed ? identities.instance_key(key) : fresh_instance_key(key);
}

void MergePart::function(std::string_view function, std::string& out) const {
  const auto found = functions.find(std::string(function));
  out += found == functions.end() ? function : std::string_view(found->second);
}

bool MergePart::drops(const NodeHead& holder, std::string_view key) const {
  return may_be_stale && key == "_output_shapes" && holder.id != kNoNode &&
         late->stale_shapes(number, holder.id);
}

void MergePart::add(const NodeHead& holder, std::string_view node_def, std::string& out) const {
  if (name_empty_handles && needs_shared_name(holder.op, node_def))
    append_shared_name(name_of(holder.name), out);
}

bool MergeNames::map(NameKind kind, std::string_view name, std::string& out) const {
  switch (kind) {
    case NameKind::kNode:
      return part_.Mapping::input({}, name, out);
    case NameKind::kContext:
      if (part_.fresh_identities) {
        part_.identities.append(Role::kFrame, name, out);
      } else {
        out += name;
      }
      return true;
    case NameKind::kVariable:
      part_.node(name, out);
      return true;
    case NameKind::kFunction:
      part_.function(name, out);
      return true;
  }
  return true;
}

}  // namespace gedit
