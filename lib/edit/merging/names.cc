#include "edit/merging/names.h"

#include <algorithm>

#include "base/error.h"
#include "base/first_free.h"
#include "graph/equal.h"

namespace gedit {
namespace {

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

MergedNames::MergedNames(MergeParts& parts) : parts_(parts) {
  for (const auto& part : parts_) nodes_.add(*part->file, *part->names);
}

std::string MergedNames::free_name(std::string_view wanted) {
  std::string name = free_names_.first(
      wanted, [&](const std::string& one) { return added_.contains(one) || nodes_.taken(one); });
  added_.insert(name);
  return name;
}

std::vector<MergePlace> MergedNames::find(const std::vector<std::string_view>& names) const {
  std::vector<MergePlace> found(names.size());
  for (size_t k = 0; k < names.size(); ++k) {
    found[k] = nodes_.find_numbered(names[k]);
  }
  for (const auto& part : parts_) {
    std::unordered_map<uint64_t, std::vector<size_t>> wanted;  // by the hash of the name
    const auto local_name = [&](size_t k) { return names[k].substr(part->prefix.size()); };
    uint64_t lowest = 0;  // six bits of the hashes: most nodes are passed over by that
    for (size_t k = 0; k < names.size(); ++k) {
      if (found[k].node != kNoNode || !names[k].starts_with(part->prefix)) continue;
      if (part->renamed(local_name(k)) ||
          (!part->names->numbers.empty() && nodes_.find_in(part->number, names[k]) == kNoNode))
        continue;
      const uint64_t hash = name_hash(local_name(k));
      wanted[hash].push_back(k);
      lowest |= uint64_t{1} << (hash & 63);
    }
    if (wanted.empty()) continue;
    if (part->facts.has_names()) {
      for (const auto& [hash, places] : wanted) {
        for (const size_t k : places) {
          const NodeId id = part->facts.names().find(local_name(k), hash);
          if (id != kNoNode) found[k] = {part->number, id};
        }
      }
      continue;
    }
    const Graph& graph = part->graph();
    for (uint32_t i = 0; i < graph.size(); ++i) {
      const NodeId id{i};
      if ((lowest >> (graph.hash(id) & 63) & 1) == 0) continue;
      const auto at = wanted.find(graph.hash(id));
      if (at == wanted.end()) continue;
      for (const size_t k : at->second) {
        if (found[k].node == kNoNode && graph.name(id) == local_name(k)) found[k] = {part->number, id};
      }
    }
  }
  return found;
}

MergePlace MergedNames::written(MergePlace place) const {
  const std::vector<OperandNames::Twin>& twins = parts_[place.part]->names->twins;
  const auto found =
      std::lower_bound(twins.begin(), twins.end(), place.node,
                       [](const OperandNames::Twin& twin, NodeId node) { return twin.node < node; });
  return found != twins.end() && found->node == place.node ? found->earlier : place;
}

void MergedNames::share() {
  for (const auto& part : parts_) {
    for (const OperandNames::Twin& twin : part->names->twins) {
      const MergePart& other = *parts_[twin.earlier.part];
      const std::string how = difference(*part, twin.node, other, twin.earlier.node);
      if (!how.empty()) {
        throw Error(Cause::kRefused, "differs from that of " + printable(other.model.path) + ": " + how)
            .in(part->model.path)
            .of(quoted("node", part->name_of(part->graph().name(twin.node))))
            .hint("--on-conflict uniquify");
      }
      part->share(twin.node);
    }
  }
}

}  // namespace gedit
