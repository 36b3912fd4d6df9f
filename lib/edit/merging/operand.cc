#include "edit/merging/operand.h"

#include <algorithm>
#include <set>

#include "graph/colocation.h"
#include "graph/library.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

uint64_t input_key(NodeId reader, uint32_t slot) { return uint64_t{index_of(reader)} << 32 | slot; }

}  // namespace

OperandFile::OperandFile(size_t position, uint32_t first_node, MergeOperand operand)
    : number(position),
      first(first_node),
      model(std::move(operand.model)),
      ops(std::move(operand.ops)),
      name(std::move(operand.name)),
      prefix(name.empty() ? "" : name + "/"),
      checkpoint(std::move(operand.checkpoint)),
      facts(model, ops) {}

OperandNames::OperandNames(const OperandFile& file)
    : scope("", false, file.name),
      identities(scope),
      fresh_identities(!file.name.empty()),
      name_empty_handles(!file.name.empty()) {}

int64_t InstanceKeys::of(size_t operand, int64_t key) const {
  if (keys_.empty()) {
    std::set<int64_t> taken;
    int64_t lowest = 0;
    for (const OperandFile* file : files_) {
      const auto look = [&](std::string_view node_def) {
        if (!is(node_op(node_def), OpKind::kCollective)) return;
        const std::optional<int64_t> own = int_attr(node_def, "instance_key");
        if (!own || keys_.contains({file->number, *own})) return;
        int64_t fresh = *own;
        if (!file->name.empty() && taken.contains(fresh)) {
          while (taken.contains(lowest)) ++lowest;
          fresh = lowest;
        }
        taken.insert(fresh);
        keys_.emplace(std::pair(file->number, *own), fresh);
      };
      file->graph().each_record(look);
      each_body_node(file->graph().part(graph_field::kLibrary), *file->graph().arena(),
                     [&](std::string_view, std::string_view node_def) { look(node_def); });
    }
  }
  const auto found = keys_.find({operand, key});
  return found == keys_.end() ? key : found->second;
}

const std::string MergePart::kDropped;

MergePart::MergePart(std::unique_ptr<OperandFile> from, std::unique_ptr<const OperandNames> decided)
    : file(std::move(from)),
      names(std::move(decided)),
      number(file->number),
      first(file->first),
      model(file->model),
      ops(file->ops),
      name(file->name),
      prefix(file->prefix),
      facts(file->facts),
      removed_(graph().size()),
      shared_(graph().size()),
      special_(graph().size()) {}

void MergePart::rename(NodeId id, std::string to) {
  renamed_[graph().name(id)] = std::move(to);
  special_.add(id);
  for (const NodeId reader : facts.consumers().of(id)) special_.add(reader);
}

void MergePart::read_instead(NodeId reader, uint32_t slot, std::optional<std::string_view> input) {
  if (input && (texts_.empty() || texts_.back() != *input)) texts_.emplace_back(*input);
  inputs_[input_key(reader, slot)] = input ? &texts_.back() : &kDropped;
  special_.add(reader);
}

void MergePart::read_instead(NodeId reader, const ByText<std::string>& inputs) {
  uint32_t slot = 0;
  each_input(graph().bytes(reader), [&](std::string_view text) {
    if (const auto found = inputs.find(canonical_input(text)); found != inputs.end())
      read_instead(reader, slot, found->second);
    ++slot;
  });
}

const std::string* MergePart::read_now(NodeId reader, uint32_t slot) const {
  if (inputs_.empty() || reader == kNoNode || !special_.has(reader)) return nullptr;
  const auto found = inputs_.find(input_key(reader, slot));
  return found == inputs_.end() ? nullptr : found->second;
}

const std::string* MergePart::redefined_function(const std::string& function) const {
  const auto found = redefined_.find(function);
  return found == redefined_.end() ? nullptr : &found->second;
}

bool MergePart::verbatim() const {
  return prefix.empty() && names->numbers.empty() && renamed_.empty() && inputs_.empty() &&
         !maps_functions() && !names->fresh_identities && !names->name_empty_handles && !stale_shapes_ &&
         removed_.empty();
}

void MergePart::finish() {
  look_at_colocated();
  prefixing_ = {prefix, names->fresh_identities, stale_shapes_ != nullptr};
  prefixes_ = names->numbers.empty() && !maps_functions() && !names->identities.any_numbered() &&
              (names->fresh_identities == names->name_empty_handles);
}

// What is colocated with a removed node is so no more.
void MergePart::look_at_colocated() {
  if (removed_.empty()) return;
  for (uint32_t i = 0; i < graph().size(); ++i) {
    const NodeId id{i};
    if (!written(id)) continue;
    const auto value = find_attr(graph().bytes(id), "_class");
    if (!value) continue;
    for (Fields list(last_bytes(*value, attr_field::kList)); list.next();) {
      const auto node = colocated_with(list->value);
      const NodeId target = node ? facts.names().find(*node) : kNoNode;
      if (target != kNoNode && removed_.has(target)) special_.add(id);
    }
  }
}

void MergePart::node(std::string_view node, std::string& out) const {
  if (!renamed_.empty()) {
    if (const auto found = renamed_.find(node); found != renamed_.end()) {
      out += found->second;
      return;
    }
  }
  out += prefix;
  out += node;
  if (names->numbers.empty()) return;
  const uint32_t number_behind = names->number(facts.names().find(node));
  if (number_behind == 0) return;
  out += '_';
  out += std::to_string(number_behind);
}

const Prefixing* MergePart::prefixing(NodeId id) const {
  return prefixes_ && !special_.has(id) ? &prefixing_ : nullptr;
}

bool MergePart::input(const NodeHead& reader, std::string_view input, std::string& out) const {
  const std::string* now = read_now(reader.id, reader.slot);
  if (now == nullptr) return Mapping::input(reader, input, out);
  if (now == &kDropped) return false;
  out += *now;
  return true;
}

bool MergePart::colocation(const NodeHead& holder, std::string_view target, std::string& out) const {
  if (target != holder.name && !(name.empty() && removed_.empty())) {
    const NodeId id = facts.names().find(target);
    if (id == kNoNode ? !name.empty() : removed_.has(id)) return false;
  }
  node(target, out);
  return true;
}

void MergePart::identity(const NodeHead& holder, Role role, std::string_view value, std::string& out) const {
  if (value.empty() && role == Role::kSharedName && is_var_handle_op(holder.op) &&
      names->name_empty_handles) {
    node(holder.name, out);
  } else if (role == Role::kGradientType) {
    gradient_type(value, out);
  } else if (names->fresh_identities) {
    names->identities.append(role, value, out);
  } else {
    out += value;
  }
}

int64_t MergePart::instance_key(int64_t key) const {
  if (!names->fresh_identities) return key;
  return names->surveyed ? names->identities.instance_key(key) : names->instance_keys->of(number, key);
}

void MergePart::function(std::string_view function, std::string& out) const {
  const auto found = functions_.find(std::string(function));
  out += found == functions_.end() ? function : std::string_view(found->second);
}

void MergePart::gradient_type(std::string_view op_type, std::string& out) const {
  const auto found = gradient_types_.find(std::string(op_type));
  out += found == gradient_types_.end() ? op_type : std::string_view(found->second);
}

bool MergePart::drops(const NodeHead& holder, std::string_view key) const {
  return stale_shapes_ && key == "_output_shapes" && holder.id != kNoNode && stale_shapes_(holder.id);
}

void MergePart::add(const NodeHead& holder, std::string_view node_def, std::string& out) const {
  if (names->name_empty_handles && needs_shared_name(holder.op, node_def))
    append_shared_name(name_of(holder.name), out);
}

bool MergeNames::map(NameKind kind, std::string_view name, std::string& out) const {
  switch (kind) {
    case NameKind::kNode:
      return part_.Mapping::input({}, name, out);
    case NameKind::kContext:
      if (part_.names->fresh_identities) {
        part_.names->identities.append(Role::kFrame, name, out);
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
