// What graphs say of themselves, united: docs/rules.md#merge-versions-and-meta-info.
#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "edit/merging/around.h"

namespace gedit {
namespace {

uint64_t producer_of(const MergePart& part) {
  return last_varint(part.graph().part(graph_field::kVersions), 1);
}

// stripped_op_list of all: of two definitions the one of the newer TensorFlow.
std::string united_op_list(const MergeParts& parts) {
  struct Definition {
    std::string_view raw;
    uint64_t producer;
  };
  std::map<std::string_view, Definition> ops;
  std::string rest;
  for (const auto& part : parts) {
    for (Fields fields(last_bytes(part->model.meta().part(meta_field::kInfo), 2)); fields.next();) {
      if (!fields->bytes(1)) {
        if (part->number == 0) rest += fields->raw;
        continue;
      }
      const Definition definition{fields->raw, producer_of(*part)};
      const auto [known, fresh] = ops.emplace(last_bytes(fields->value, 1), definition);
      if (!fresh && known->second.producer < definition.producer) known->second = definition;
    }
  }
  std::string list;
  for (const auto& [name, definition] : ops) list += definition.raw;
  return list + rest;
}

}  // namespace

// Tags of other operands, by which nobody finds what is united.
void MergedSurroundings::warn_of_tags(const std::vector<const MergePart*>& with, const MergePart& first,
                                      const std::vector<std::string_view>& kept) {
  for (const MergePart* part : with) {
    if (part == &first) continue;
    std::string lost;
    for (const std::string_view tag : tags(part->model.meta())) {
      if (std::ranges::find(kept, tag) != kept.end()) continue;
      lost += lost.empty() ? "'" : ", '";
      lost += printable(tag) + "'";
    }
    if (lost.empty()) continue;
    warnings_.push_back("tags " + lost + " of " + printable(part->model.path) + " are lost: those of " +
                        printable(first.model.path) + " stay");
  }
}

void MergedSurroundings::unite_info(MetaGraph& meta) {
  constexpr uint32_t kOps = 2, kTags = 4, kDefaultsStripped = 7, kAliases = 8;
  std::vector<const MergePart*> with;
  for (const auto& part : parts_) {
    if (part->model.meta().has(meta_field::kInfo)) with.push_back(part.get());
  }
  if (with.empty()) return;
  const std::string_view first = with.front()->model.meta().part(meta_field::kInfo);
  if (with.size() == 1 && parts_.size() == 1) return meta.set_part(meta_field::kInfo, std::string(first));
  std::vector<std::pair<uint32_t, std::string>> fields;  // by number
  for (Fields info(first); info.next();) {
    if (info->number != kOps && info->number != kTags && info->number != kDefaultsStripped &&
        info->number != kAliases)
      fields.emplace_back(info->number, info->raw);
  }
  const auto add = [&](uint32_t number, std::string_view content) {
    std::string field;
    append_bytes_field(field, number, content);
    fields.emplace_back(number, std::move(field));
  };
  bool ops = false, stripped = with.size() == parts_.size();
  std::set<std::string_view> aliases;
  for (const MergePart* part : with) {
    const std::string_view info = part->model.meta().part(meta_field::kInfo);
    ops = ops || has_field(info, kOps);
    stripped = stripped && last_varint(info, kDefaultsStripped) != 0;
    for (Fields all(info); all.next();) {
      if (all->bytes(kAliases) && aliases.insert(map_entry(all->value).key).second) add(kAliases, all->value);
    }
  }
  for (const MergePart* part : with) {
    const std::vector<std::string_view> own = tags(part->model.meta());
    for (const std::string_view tag : own) add(kTags, tag);
    // Those of the first SavedModel, be they none; a MetaGraphDef says nothing without tags.
    if (own.empty() && part->model.kind != Kind::kSavedModel) continue;
    warn_of_tags(with, *part, own);
    break;
  }
  if (ops) add(kOps, united_op_list(parts_));
  if (stripped) {
    std::string field;
    append_varint_field(field, kDefaultsStripped, 1);
    fields.emplace_back(kDefaultsStripped, std::move(field));
  }
  std::stable_sort(fields.begin(), fields.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string info;
  for (const auto& [number, bytes] : fields) info += bytes;
  meta.set_part(meta_field::kInfo, std::move(info));
}

void MergedSurroundings::unite_versions(Graph& graph) {
  constexpr uint32_t kProducer = 1, kMinConsumer = 2, kBadConsumers = 3;
  bool any = false;
  for (const auto& part : parts_) {
    for (const Part& field : part->graph().parts()) any = any || field.field == graph_field::kVersions;
  }
  if (!any) return;
  if (parts_.size() == 1)
    return graph.set_part(graph_field::kVersions,
                          std::string(parts_[0]->graph().part(graph_field::kVersions)));
  uint64_t producer = producer_of(*parts_.front()), min_consumer = 0;
  const MergePart* strictest = nullptr;
  std::set<int32_t> bad;
  std::string rest;
  for (const auto& part : parts_) {
    const std::string_view versions = part->graph().part(graph_field::kVersions);
    producer = std::min(producer, producer_of(*part));
    const uint64_t wanted = last_varint(versions, kMinConsumer);
    if (wanted > min_consumer) {
      min_consumer = wanted;
      strictest = part.get();
    }
    for (Fields fields(versions); fields.next();) {
      if (fields->number == kBadConsumers) {
        each_varint(fields.field(), [&](uint64_t version) { bad.insert(static_cast<int32_t>(version)); });
      } else if (fields->number > kBadConsumers && part->number == 0) {
        rest += fields->raw;
      }
    }
  }
  for (const auto& part : parts_) {
    const uint64_t own = producer_of(*part);
    if (own == 0 || own >= min_consumer) continue;
    warnings_.push_back("min_consumer " + std::to_string(min_consumer) + " of " +
                        printable(strictest->model.path) + " exceeds the producer " + std::to_string(own) +
                        " of " + printable(part->model.path));
  }
  std::string versions;
  if (producer != 0) append_varint_field(versions, kProducer, producer);
  if (min_consumer != 0) append_varint_field(versions, kMinConsumer, min_consumer);
  std::string packed;
  for (const int32_t version : bad) append_varint(packed, static_cast<uint64_t>(int64_t{version}));
  if (!packed.empty()) append_bytes_field(versions, kBadConsumers, packed);
  graph.set_part(graph_field::kVersions, versions + rest);
}

}  // namespace gedit
