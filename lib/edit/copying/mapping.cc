#include "edit/copying/mapping.h"

#include <algorithm>

#include "base/error.h"
#include "base/first_free.h"
#include "base/size.h"
#include "edit/basis/addresses.h"
#include "edit/basis/device_name.h"
#include "edit/basis/names.h"
#include "graph/op_defs.h"
#include "ops/kinds.h"

namespace gedit {
CopyMapping::CopyMapping(const Facts& facts, const CopySelection& selection, const CopyRequest& request)
    : facts_(facts),
      selection_(selection.nodes),
      scope_(request.from_scope, request.has_from_scope, request.scope),
      device_(request.device),
      identities_(scope_),
      producers_(facts.producers()),
      prefixing_{.prefix = scope_.of(""), .identities = true} {
  collect_identities();
  prefixes_ = !scope_.renames() && !device_ && producers_.complete() && !identities_.any_numbered();
}

// Fresh names are decided in the order of the graph, so that the same input gives the same output.
void CopyMapping::collect_identities() {
  const Graph& graph = facts_.graph();
  const std::vector<NodeId> wanted = identity_holders(graph, selection_);
  if (wanted.empty()) return;
  for (const NodeId id : identity_holders(graph)) identities_.take(graph.bytes(id));
  for (const NodeId id : wanted) identities_.want(graph.bytes(id));
}

// Where all that it reads is copied under the same prefix.
const Prefixing* CopyMapping::prefixing(NodeId id) const {
  if (!prefixes_ || id == kNoNode || !replaced_.empty() || !stale_shapes_.empty()) return nullptr;
  const auto sources = producers_.of(id);
  const bool alone = std::ranges::all_of(sources, [&](NodeId producer) { return copied(producer); });
  return alone ? &prefixing_ : nullptr;
}

void CopyMapping::replace(const TensorRef& tensor, std::string source, bool except_references) {
  replaced_[tensor] = {std::move(source), except_references};
}

std::string CopyMapping::source_of(const TensorRef& tensor, bool needs_itself) const {
  if (const auto found = replaced_.find(tensor);
      found != replaced_.end() && !(needs_itself && found->second.except_references))
    return found->second.source;
  if (!copied(tensor.node)) return facts_.tensors().input_text(tensor);
  return facts_.tensors().input_text(tensor, scope_.of(facts_.graph().name(tensor.node)));
}

// TensorFlow places who takes a reference or a handle where its producer is, and so all that share one
// (core/common_runtime/colocation_graph.cc, ColocateResourceAndRefEdges).
const NodeSet& CopyMapping::hold_devices() {
  const Graph& graph = facts_.graph();
  if (!device_ || device_->empty() || !graph.any_on_device()) return held_;
  held_ = NodeSet(graph.size());
  OpDefs op_defs(facts_.ops);
  std::vector<DType> types;
  std::vector<NodeId> open;
  std::unordered_map<NodeId, std::vector<NodeId>> beside;  // copies that share one
  for (const NodeId id : selection_.nodes()) {
    const OpDef* const op = op_defs.find(graph.op(id));
    if (op == nullptr || !input_types(*op, graph.bytes(id), types)) continue;
    size_t slot = 0;
    each_input(graph.bytes(id), [&](std::string_view text) {
      const DType type = slot < types.size() ? types[slot] : DType::kInvalid;
      ++slot;
      if (!is_reference(type) && type != DType::kResource) return;
      const std::optional<TensorRef> tensor = facts_.tensors().of_input(text);
      if (!tensor || replaced_.contains(*tensor)) return;
      if (copied(tensor->node)) {
        beside[id].push_back(tensor->node);
        beside[tensor->node].push_back(id);
      } else if (!devices_agree(graph.device(tensor->node), *device_) && held_.add(id)) {
        open.push_back(id);
      }
    });
  }
  while (!open.empty()) {
    const auto found = beside.find(open.back());
    open.pop_back();
    if (found == beside.end()) continue;
    for (const NodeId other : found->second) {
      if (held_.add(other)) open.push_back(other);
    }
  }
  return held_;
}

void CopyMapping::node(std::string_view name, std::string& out) const { scope_.append(name, out); }

bool CopyMapping::needs_reference(const NodeHead& reader, std::string_view input) const {
  const NodeId id = find(reader.name);
  const auto types = input_types(facts_.ops, facts_.graph().bytes(id));
  if (!types) return false;
  size_t slot = 0;
  bool reference = false;
  each_input(facts_.graph().bytes(id), [&](std::string_view text) {
    if (text == input && slot < types->size()) reference = reference || is_reference((*types)[slot]);
    ++slot;
  });
  return reference;
}

bool CopyMapping::input(const NodeHead& reader, std::string_view input, std::string& out) const {
  const Input parsed = parse_input_of(facts_.graph(), input);
  const bool known = reader.id != kNoNode && producers_.complete();
  const NodeId producer = known ? producers_.of(reader.id)[reader.slot] : find(parsed.node);
  if (producer == kNoNode && (replaced_.empty() || !facts_.in_body())) {  // dangling: carried through
    out += input;
    return true;
  }
  if (!replaced_.empty()) {
    const std::optional<TensorRef> tensor = facts_.in_body()
                                                ? facts_.tensors().of_input(input)
                                                : TensorRef{producer, parsed.index(), parsed.control};
    const auto found = tensor ? replaced_.find(*tensor) : replaced_.end();
    if (found != replaced_.end() && !(found->second.except_references && needs_reference(reader, input))) {
      out += found->second.source;
      return true;
    }
  }
  if (!copied(producer)) {
    out += input;
    return true;
  }
  put_input(parsed, out);
  return true;
}

bool CopyMapping::colocation(const NodeHead& holder, std::string_view name, std::string& out) const {
  NodeId target = kNoNode;
  if (holder.id != kNoNode) {  // mostly itself, or what it reads
    if (holder.name == name) target = holder.id;
    for (const NodeId producer : producers_.of(holder.id)) {
      if (target == kNoNode && facts_.graph().name(producer) == name) target = producer;
    }
  }
  if (target == kNoNode) target = find(name);
  if (target == kNoNode) return false;
  // It would hold a copy on the device of an original.
  if (copied(target)) {
    scope_.append(name, out);
    return held_.has(target) == held_.has(holder.id);
  }
  out += name;
  return device(holder.id) == nullptr;
}

void CopyMapping::identity(const NodeHead& holder, Role role, std::string_view value,
                           std::string& out) const {
  if (value.empty() && role == Role::kSharedName && is_var_handle_op(holder.op)) {
    scope_.append(holder.name, out);  // an empty one would be one variable with every other empty one
    return;
  }
  identities_.append(role, value, out);
}

bool CopyMapping::drops(const NodeHead& holder, std::string_view key) const {
  return !stale_shapes_.empty() && key == "_output_shapes" &&
         stale_shapes_.contains(index_of(holder.id != kNoNode ? holder.id : find(holder.name)));
}

void CopyMapping::add(const NodeHead& holder, std::string_view node_def, std::string& out) const {
  if (needs_shared_name(holder.op, node_def)) append_shared_name(scope_.of(holder.name), out);
}

NodeId CopyMapping::original_of(std::string_view name) const {
  // Two names can become `name`: one inside OLD and one anywhere else.
  for (const std::string& candidate : scope_.origins(name)) {
    const NodeId id = find(candidate);
    if (id != kNoNode && copied(id) && scope_.of(candidate) == name) return id;
  }
  return kNoNode;
}

void CopyMapping::add_name(const std::string& name) {
  if (is_taken(name) || original_of(name) != kNoNode || !added_names_.insert(name).second) {
    throw Error(Cause::kRefused, "is taken").of(quoted("node", name)).hint("choose another --scope");
  }
}

std::string CopyMapping::free_name(std::string_view base) {
  const auto taken = [&](const std::string& name) {
    return is_taken(name) || original_of(name) != kNoNode || added_names_.contains(name);
  };
  std::string name = free_names_.first(base, taken);
  added_names_.insert(name);
  return name;
}

void CopyMapping::check_names() const {
  const Graph& graph = facts_.graph();
  size_t taken = 0;
  std::string first;
  // Where nothing is in the new scope yet, and no copy comes from another scope than the rest, nothing can be
  // taken.
  const bool fresh = !scope_.renames() && !any_name_begins(graph, scope_.of(""));
  if (fresh) {  // what is valid stays valid behind a valid scope
    const std::string sample = scope_.of("x");
    if (invalid_name_at(sample) != std::string_view::npos) throw not_a_node_name(sample);
    return;
  }
  for (const NodeId id : selection_.nodes()) {
    const std::string name = scope_.of(graph.name(id));
    if (invalid_name_at(name) != std::string_view::npos &&
        invalid_name_at(graph.name(id)) == std::string_view::npos) {
      throw not_a_node_name(name);
    }
    if (!is_taken(name) && original_of(name) == id) continue;
    if (taken++ == 0) first = name;
  }
  if (taken > 0) {
    const std::string scope = scope_.of("x");
    throw Error(Cause::kRefused, counted(taken, "name") + " taken, first '" + printable(first) + "'")
        .of(quoted("scope", scope.size() > 2 ? scope.substr(0, scope.size() - 2) : ""))
        .hint("choose another --scope");
  }
}

bool NamesOfCopies::copied(std::string_view name) const {
  const NodeId id = name.empty() ? kNoNode : facts_.names().find(node_of(name));
  return id != kNoNode && mapping_.copied(id);
}

bool NamesOfCopies::append(NameKind kind, std::string_view name, bool outside, std::string& out) const {
  if (kind == NameKind::kVariable) {
    mapping_.node(name, out);
    return true;
  }
  if (kind == NameKind::kContext) {
    const auto& frames = mapping_.frames();
    const auto found = frames.find(name);
    if (found != frames.end()) {
      out += found->second;
    } else {
      mapping_.node(name, out);
    }
    return true;
  }
  if (kind == NameKind::kFunction) {
    out += name;
    return true;
  }
  const std::optional<TensorRef> tensor = tensor_if_there(facts_.names(), name);
  if (!tensor) return false;
  if (!outside && !mapping_.copied(tensor->node)) return false;
  const std::string source = mapping_.source_of(*tensor, true);
  out += source;
  // A tensor is written with its number in these messages, an op without.
  if (!tensor->control && parse_input(name).port.size() == 1 && parse_input(source).port.empty() &&
      name.ends_with(":0"))
    out += ":0";
  return true;
}

}  // namespace gedit
