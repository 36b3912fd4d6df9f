#include "edit/merging/around.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/map_entry.h"
#include "edit/objects/join.h"
#include "model/collections.h"
#include "model/init_op.h"

namespace gedit {
namespace {

// Every name becomes this one.
class OneName final : public NameMap {
 public:
  explicit OneName(std::string name) : name_(std::move(name)) {}
  bool map(NameKind /*kind*/, std::string_view /*name*/, std::string& out) const override {
    out += name_;
    return true;
  }

 private:
  std::string name_;
};

// The tensors that a signature is fed with, KEYs as VALUEs.
class KeysToValues final : public NameMap {
 public:
  explicit KeysToValues(const InputMap& inputs) {
    for (const MergedInput& pair : inputs.pairs()) {
      if (!pair.control) pairs_[pair.key] = &pair;
    }
  }
  bool map(NameKind /*kind*/, std::string_view name, std::string& out) const override {
    const std::string tensor = canonical_input(name);
    const auto found = pairs_.find(tensor);
    ++fed_[found == pairs_.end() ? tensor : found->second->value];
    if (found == pairs_.end()) {
      out += name;
      return true;
    }
    mapped_.push_back(found->second);
    out += found->second->value;
    if (parse_input(found->second->value).port.empty()) out += ":0";  // a tensor is written with its number
    return true;
  }

  // How often the signature is fed with a tensor, and which of them were mapped; forgets them.
  struct Fed {
    std::map<std::string, int> times;
    std::vector<const MergedInput*> mapped;
  };
  Fed take() { return {std::exchange(fed_, {}), std::exchange(mapped_, {})}; }

 private:
  std::unordered_map<std::string, const MergedInput*> pairs_;
  mutable std::map<std::string, int> fed_;
  mutable std::vector<const MergedInput*> mapped_;
};

}  // namespace

MergedSurroundings::MergedSurroundings(MergeParts& parts, MergedNames& names, NameConflict on_conflict)
    : parts_(parts), names_(names), on_conflict_(on_conflict), signature_keys_(parts.size()) {}

// A NoOp `merged_KEY` that runs these.
std::string MergedSurroundings::run_all(std::string_view key, const std::vector<std::string>& operations) {
  const std::string name = names_.free_name("merged_" + std::string(key));
  NodeBuilder node(name, "NoOp");
  for (const std::string& operation : operations) node.input("^" + operation);
  nodes_.push_back(node.take());
  return name;
}

UniteRequest MergedSurroundings::request() {
  UniteRequest request;
  for (const auto& part : parts_) request.graphs.push_back({&part->model.meta(), part->model.path});
  request.share = on_conflict_ == NameConflict::kShare;
  request.run_all = [this](std::string_view key, const std::vector<std::string>& operations) {
    return run_all(key, operations);
  };
  return request;
}

void MergedSurroundings::unite_signatures(MetaGraph& meta, std::vector<std::string>& aliases) {
  std::vector<std::pair<std::string, std::string_view>> all;  // key and SignatureDef, in order
  std::map<std::string, size_t> places;                       // by key, in `all`
  std::map<std::string, const MergePart*> owners;
  std::map<std::string_view, std::vector<std::string>> operations;  // of init and train signatures
  for (const auto& part : parts_) {
    for (const std::string_view bytes : part->model.meta().parts_of(meta_field::kSignature)) {
      const MapEntry entry = map_entry(bytes);
      std::string key(entry.key);
      if (key == signature_key::kInit || key == signature_key::kTrain) {
        operations[entry.key].emplace_back(node_of(operation_of_signature(entry.value)));
        if (places.emplace(key, all.size()).second) all.emplace_back(key, entry.value);
        continue;
      }
      if (const auto known = places.find(key); known != places.end()) {
        const MergePart& other = *owners.at(key);
        if (!part->name.empty()) {
          key = part->prefix + key;
          if (places.contains(key) && on_conflict_ != NameConflict::kUniquify)
            throw already_in(*part, *owners.at(key), quoted("signature", key));
        } else if (on_conflict_ == NameConflict::kShare && all[known->second].second == entry.value) {
          continue;
        } else if (on_conflict_ != NameConflict::kUniquify) {
          throw already_in(*part, other, quoted("signature", key));
        }
      }
      const std::string wanted = key;
      for (int number = 1; places.contains(key); ++number) key = wanted + "_" + std::to_string(number);
      places.emplace(key, all.size());
      owners.emplace(key, part.get());
      signature_keys_[part->number].emplace(entry.key, key);
      if (!part->name.empty() && key == entry.key)
        aliases.push_back(map_entry_bytes(part->prefix + key, entry.value));
      all.emplace_back(key, entry.value);
    }
  }
  // An operand that a loader initializes in another way is initialized here, too: only this way is looked at.
  if (const auto inits = operations.find(signature_key::kInit); inits != operations.end())
    inits->second = loaders_run(request(), signature_key::kInit);
  std::vector<std::string> entries;
  for (const auto& [key, signature] : all) {
    const auto found = operations.find(key);
    if (found == operations.end() || found->second.size() < 2) {
      entries.push_back(map_entry_bytes(key, signature));
      continue;
    }
    const OneName name(run_all(key, found->second));
    entries.push_back(map_entry_bytes(key, map_names(signature, kSignatureDef, name)));
  }
  meta.set_parts(meta_field::kSignature, std::move(entries));
}

void MergedSurroundings::map_signature_inputs(MetaGraph& meta, const InputMap& inputs) {
  if (inputs.empty()) return;
  KeysToValues map(inputs);
  std::vector<std::string> entries;
  for (const std::string_view bytes : meta.parts_of(meta_field::kSignature)) {
    const MapEntry entry = map_entry(bytes);
    entries.push_back(map_entry_bytes(entry.key, map_names(entry.value, kSignatureInputs, map)));
    const KeysToValues::Fed fed = map.take();
    const std::string signature = "signature '" + printable(entry.key) + "': ";
    for (const MergedInput* pair : fed.mapped) {
      if (!inputs.inlined(*pair)) continue;
      warnings_.push_back(
          signature + "is fed with '" + printable(pair->value) +
          "' now, the result of a function call: who feeds it has to feed what that call reads, too");
      break;
    }
    for (const MergedInput* pair : fed.mapped) {
      if (fed.times.at(pair->value) < 2) continue;
      warnings_.push_back(signature + "several inputs are '" + printable(pair->value) +
                          "' now, which is fed with one value");
      break;
    }
  }
  meta.set_parts(meta_field::kSignature, std::move(entries));
}

void MergedSurroundings::unite_collections(MetaGraph& meta) {
  meta.set_parts(meta_field::kCollection, united_collections(request(), warnings_));
}

void MergedSurroundings::unite_savers(MetaGraph& meta, bool all_savers) {
  std::vector<std::string> savers;
  for (const auto& part : parts_) {
    const MetaGraph& own = part->model.meta();
    if (own.has(meta_field::kSaver) && std::ranges::count(savers, own.part(meta_field::kSaver)) == 0)
      savers.emplace_back(own.part(meta_field::kSaver));
  }
  if (savers.empty()) return;
  meta.set_part(meta_field::kSaver, savers.front());
  if (!all_savers || savers.size() < 2) return;
  std::vector<std::string> entries, items;
  size_t at = std::string::npos;
  for (const Collection& collection : collections(meta)) {
    if (collection.key == collection_key::kSavers) {
      at = entries.size();
      items.assign(collection.items.begin(), collection.items.end());
    }
    entries.emplace_back(collection.entry);
  }
  for (const std::string& saver : savers) {
    if (std::ranges::count(items, saver) == 0) items.push_back(saver);
  }
  std::string entry = collection_entry(collection_key::kSavers, collection_kind::kBytesList, items);
  if (at == std::string::npos) {
    entries.push_back(std::move(entry));
  } else {
    entries[at] = std::move(entry);
  }
  meta.set_parts(meta_field::kCollection, std::move(entries));
}

void MergedSurroundings::unite_objects(MetaGraph& meta, std::vector<std::string>& notes) {
  std::vector<ObjectPart> objects;
  std::string without;
  for (const auto& part : parts_) {
    const MetaGraph& own = part->model.meta();
    if (own.has(meta_field::kObjectGraph)) {
      with_file(part->model, [&] {
        SavedObjects saved = read_saved_objects(own.part(meta_field::kObjectGraph));
        check_saved_objects(saved);
        objects.push_back(
            {part->name, std::move(saved), first_assets_[part->number], signature_keys_[part->number]});
      });
    } else {
      without += (without.empty() ? "" : ", ") + printable(part->model.path);
    }
  }
  if (objects.empty()) return;
  if (!without.empty())
    notes.push_back("tf.saved_model.load sees nothing of " + without + ", which has no object graph");
  meta.set_part(meta_field::kObjectGraph, join_saved_objects(std::move(objects)));
}

}  // namespace gedit
