#include "edit/around/keep.h"

#include <string>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "graph/references.h"
#include "model/collections.h"

namespace gedit {
namespace {

// Leaves out what is gone, and notices the first of it.
class RemainingNames final : public NameMap {
 public:
  explicit RemainingNames(const Remaining& remaining) : remaining_(remaining) {}

  bool map(NameKind kind, std::string_view name, std::string& out) const override {
    const bool there = kind == NameKind::kNode       ? remaining_.node(name)
                       : kind == NameKind::kFunction ? remaining_.function(name)
                                                     : true;
    if (there) {
      out += name;
    } else if (missing_.empty()) {
      missing_ = name;
    }
    return there;
  }
  const std::string& missing() const { return missing_; }

 private:
  const Remaining& remaining_;
  mutable std::string missing_;  // a NameMap only maps; this one also tells what it left out
};

// Whether all that makes up a context is there: predicate, pivots, and of a loop its enters and exits.
// Values that are gone are of no matter.
bool whole_context(std::string_view def, bool cond, const Remaining& remaining, int depth) {
  if (depth > kDeepest) throw Malformed(def.data(), "contexts nest too deep");
  for (Fields fields(def); fields.next();) {
    if (fields->wire != Wire::kBytes || fields->value.empty()) continue;
    const uint32_t number = fields->number;
    const bool part =
        cond ? number == 2 || number == 3 : (number >= 5 && number <= 8) || number == 10 || number == 11;
    if (part && !remaining.node(fields->value)) return false;
    if (number != (cond ? 6U : 12U)) continue;
    for (Fields nested(fields->value); nested.next();) {
      if (nested->wire != Wire::kBytes || nested->number > 2) continue;
      if (!whole_context(nested->value, nested->number == 1, remaining, depth + 1)) return false;
    }
  }
  return true;
}

class CollectionReduction {
 public:
  CollectionReduction(const std::vector<Collection>& all, const Remaining& remaining)
      : remaining_(remaining) {
    for (const Collection& collection : all) {
      if (collection.kind != collection_kind::kBytesList || !holds_variables(collection.key)) continue;
      definitions_.insert(collection.items.begin(), collection.items.end());
    }
  }

  // The item as it stays; nothing where it goes.
  std::optional<std::string> reduced(const Collection& collection, std::string_view item) const {
    const bool bytes = collection.kind == collection_kind::kBytesList;
    bool stays = true;
    if (collection.kind == collection_kind::kNodeList) {
      stays = remaining_.node(item);
    } else if (collection.kind == collection_kind::kAnyList) {
      stays = whole(item, kAnyItem);
    } else if (bytes && (holds_variables(collection.key) || definitions_.contains(item))) {
      stays = remaining_.variable(variable_names(item).variable) && whole(item, kVariableDef);
    } else if (bytes && collection.key == "queue_runners") {
      stays = whole(item, kQueueRunnerDef);
    } else if (bytes && collection.key == "savers") {
      stays = remaining_.saver(item);
    } else if (bytes && (collection.key == "cond_context" || collection.key == "while_context")) {
      const bool cond = collection.key == "cond_context";
      if (!whole_context(item, cond, remaining_, 0)) return std::nullopt;
      return map_names(item, cond ? kCondContextDef : kWhileContextDef, RemainingNames(remaining_));
    }
    if (!stays) return std::nullopt;
    return std::string(item);
  }

 private:
  bool whole(std::string_view item, const Schema& schema) const {
    const RemainingNames names(remaining_);
    map_names(item, schema, names);
    return names.missing().empty();
  }

  const Remaining& remaining_;
  std::unordered_set<std::string_view>
      definitions_;  // VariableDefs, to know one in a collection of the user's
};

void reduce_collections(MetaGraph& meta, const Remaining& remaining) {
  const std::vector<Collection> all = collections(meta);
  const CollectionReduction reduction(all, remaining);
  std::vector<std::string> entries;
  bool changed = false;
  for (const Collection& collection : all) {
    std::vector<std::string> items;
    bool same = true;
    for (const std::string_view item : collection.items) {
      std::optional<std::string> left = reduction.reduced(collection, item);
      same = same && left && *left == item;
      if (left) items.push_back(std::move(*left));
    }
    changed = changed || !same;
    if (same) {
      entries.emplace_back(collection.entry);
    } else if (!items.empty()) {
      entries.push_back(collection_entry(collection.key, collection.kind, items));
    }
  }
  if (changed) meta.set_parts(meta_field::kCollection, std::move(entries));
}

void reduce_assets(MetaGraph& meta, const Remaining& remaining) {
  std::vector<std::string> kept;
  const std::vector<std::string_view> all = meta.parts_of(meta_field::kAsset);
  for (const std::string_view asset : all) {
    const RemainingNames names(remaining);
    map_names(asset, kAssetFileDef, names);
    if (names.missing().empty()) kept.emplace_back(asset);
  }
  if (kept.size() != all.size()) meta.set_parts(meta_field::kAsset, std::move(kept));
}

// Without an object graph TensorFlow 2 loads a SavedModel as one of TensorFlow 1, and takes every signature
// for one to call: an init op that feeds on an asset is then refused. Where TensorFlow 1 keeps its init op,
// both find it (saved_model/loader_impl.py, get_init_op).
void init_as_collection(MetaGraph& meta) {
  constexpr std::string_view kInit = "__saved_model_init_op", kMain = "saved_model_main_op";
  std::vector<std::string> signatures, entries;
  std::string operation;
  for (const std::string_view bytes : meta.parts_of(meta_field::kSignature)) {
    const MapEntry entry = map_entry(bytes);
    if (entry.key != kInit) {
      signatures.emplace_back(bytes);
      continue;
    }
    for (Fields fields(entry.value); fields.next();) {
      if (!fields->bytes(2)) continue;
      const MapEntry output = map_entry(fields->value);
      if (output.key == kInit) operation = node_of(last_bytes(output.value, 1));
    }
  }
  if (operation.empty()) return;
  bool there = false;
  for (const Collection& collection : collections(meta)) {
    there = there || collection.key == kMain;
    entries.emplace_back(collection.entry);
  }
  meta.set_parts(meta_field::kSignature, std::move(signatures));
  if (there) return;
  entries.push_back(collection_entry(kMain, collection_kind::kNodeList, {operation}));
  meta.set_parts(meta_field::kCollection, std::move(entries));
}

}  // namespace

void reduce_signatures(MetaGraph& meta, const Remaining& remaining, Changes& changes) {
  std::vector<std::string> kept;
  const std::vector<std::string_view> all = meta.parts_of(meta_field::kSignature);
  for (const std::string_view bytes : all) {
    const MapEntry entry = map_entry(bytes);
    const RemainingNames names(remaining);
    map_names(entry.value, kSignatureDef, names);
    if (names.missing().empty()) {
      kept.emplace_back(bytes);
    } else if (!entry.key.starts_with("__saved_model_")) {
      changes.notes.push_back(quoted("signature", entry.key) + " is dropped: '" + printable(names.missing()) +
                              "' is gone");
    }
  }
  if (kept.size() != all.size()) meta.set_parts(meta_field::kSignature, std::move(kept));
}

void reduce_surroundings(MetaGraph& meta, const Remaining& remaining) {
  reduce_collections(meta, remaining);
  reduce_assets(meta, remaining);
  if (meta.has(meta_field::kSaver) && !remaining.saver(meta.part(meta_field::kSaver)))
    meta.set_parts(meta_field::kSaver, {});
  if (!meta.has(meta_field::kInfo)) return;
  const std::string_view info = meta.part(meta_field::kInfo);
  std::string mapped = map_names(info, kMetaInfoDef, RemainingNames(remaining));
  if (mapped != info) meta.set_part(meta_field::kInfo, std::move(mapped));
}

void drop_object_graph(MetaGraph& meta) {
  meta.set_parts(meta_field::kObjectGraph, {});
  init_as_collection(meta);
}

}  // namespace gedit
