#include "edit/merging/around.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "edit/objects/join.h"
#include "model/collections.h"

namespace gedit {
namespace {

constexpr std::string_view kInitSignature = "__saved_model_init_op",
                           kTrainSignature = "__saved_model_train_op";

// Where a loader looks for the operation that initializes a model, in this order
// (tensorflow/cc/saved_model/loader_util.cc, GetInitOp); it runs the first that it finds.
constexpr std::array<std::string_view, 3> kLoaderInits{kInitSignature, "saved_model_main_op",
                                                       "legacy_init_op"};

// Collections of which one item is run: of several operands' a new operation runs all.
constexpr std::array<std::string_view, 4> kRunCollections{"saved_model_main_op", "legacy_init_op", "init_op",
                                                          "local_init_op"};

template <typename Range>
bool is_one_of(const Range& range, std::string_view word) {
  return std::find(range.begin(), range.end(), word) != range.end();
}

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

std::string signature_entry(std::string_view key, std::string_view signature) {
  std::string entry;
  append_bytes_field(entry, 1, key);
  append_bytes_field(entry, 2, signature);
  return entry;
}

// The operation that an init or train signature names: its one output.
std::string_view signature_operation(std::string_view signature) {
  for (Fields fields(signature); fields.next();) {
    if (fields->bytes(2)) return last_bytes(map_entry(fields->value).value, 1);
  }
  return {};
}

std::string_view signature_of(const MetaGraph& meta, std::string_view key) {
  for (const std::string_view bytes : meta.parts_of(meta_field::kSignature)) {
    const MapEntry entry = map_entry(bytes);
    if (entry.key == key) return entry.value;
  }
  return {};
}

std::string_view item_of(const MetaGraph& meta, std::string_view key) {
  for (const Collection& collection : collections(meta)) {
    if (collection.key == key && collection.kind == collection_kind::kNodeList && !collection.items.empty())
      return collection.items.front();
  }
  return {};
}

}  // namespace

MergedSurroundings::MergedSurroundings(MergeParts& parts, MergedNames& names, NameConflict on_conflict)
    : parts_(parts), names_(names), on_conflict_(on_conflict), signature_keys_(parts.size()) {}

// A NoOp `merged_KEY` that runs these.
std::string MergedSurroundings::run_all(const std::string& key, const std::vector<std::string>& operations) {
  const std::string name = names_.free_name("merged_" + key);
  NodeBuilder node(name, "NoOp");
  for (const std::string& operation : operations) node.input("^" + operation);
  nodes_.push_back(node.take());
  return name;
}

// The operation that a loader runs for an operand where it looks from `first_way` on; or empty.
std::string MergedSurroundings::init_of(const MergePart& part, size_t first_way) const {
  for (size_t way = first_way; way < kLoaderInits.size(); ++way) {
    const MetaGraph& meta = part.model.meta();
    const std::string_view name = kLoaderInits[way] == kInitSignature
                                      ? signature_operation(signature_of(meta, kInitSignature))
                                      : item_of(meta, kLoaderInits[way]);
    if (!name.empty()) return std::string(node_of(name));
  }
  return {};
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
      if (key == kInitSignature || key == kTrainSignature) {
        operations[entry.key].emplace_back(node_of(signature_operation(entry.value)));
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
        aliases.push_back(signature_entry(part->prefix + key, entry.value));
      all.emplace_back(key, entry.value);
    }
  }
  // An operand that a loader initializes in another way is initialized here, too: only this way is looked at.
  std::vector<std::string> inits;
  for (const auto& part : parts_) {
    if (std::string init = init_of(*part, 0); !init.empty()) inits.push_back(std::move(init));
  }
  if (operations.contains(kInitSignature)) operations[kInitSignature] = inits;
  std::vector<std::string> entries;
  for (const auto& [key, signature] : all) {
    const auto found = operations.find(key);
    if (found == operations.end() || found->second.size() < 2) {
      entries.push_back(signature_entry(key, signature));
      continue;
    }
    const OneName name(run_all(key, found->second));
    entries.push_back(signature_entry(key, map_names(signature, kSignatureDef, name)));
  }
  meta.set_parts(meta_field::kSignature, std::move(entries));
}

void MergedSurroundings::map_signature_inputs(MetaGraph& meta, const InputMap& inputs) {
  if (inputs.empty()) return;
  KeysToValues map(inputs);
  std::vector<std::string> entries;
  for (const std::string_view bytes : meta.parts_of(meta_field::kSignature)) {
    const MapEntry entry = map_entry(bytes);
    entries.push_back(signature_entry(entry.key, map_names(entry.value, kSignatureInputs, map)));
    const KeysToValues::Fed fed = map.take();
    const std::string signature = "signature '" + printable(entry.key) + "': ";
    for (const MergedInput* pair : fed.mapped) {
      if (!inputs.inlined(*pair)) continue;
      warnings_.push_back(signature + "is fed with '" + printable(pair->value) +
                          "' now, but a session inlines the calls there and then needs what they read, too");
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

// One collection of several operands.
struct MergedSurroundings::Group {
  std::string_view key;
  struct Member {
    const MergePart* part;
    Collection collection;
  };
  std::vector<Member> members;
};

std::string MergedSurroundings::united(const Group& group) {
  const std::string key(group.key);
  const Group::Member& first = group.members.front();
  uint32_t kind = first.collection.kind;
  for (const Group::Member& member : group.members) {
    const uint32_t other = member.collection.kind;
    if (other == kind) continue;
    const auto names_or_variables = [](uint32_t one) {
      return one == collection_kind::kNodeList || one == collection_kind::kBytesList;
    };
    if (!names_or_variables(kind) || !names_or_variables(other) || !holds_variables(key)) {
      throw Error(Cause::kRefused, "holds other things than that of " + printable(first.part->model.path))
          .in(member.part->model.path)
          .of(quoted("collection", key));
    }
    kind = collection_kind::kNodeList;
    warnings_.push_back("collection '" + printable(key) +
                        "': names here, VariableDefs there; all are names now");
  }
  std::string list;
  std::set<std::string> known;
  const bool named = kind == collection_kind::kNodeList || kind == collection_kind::kAnyList ||
                     collection_schema(key) != nullptr;
  for (const Group::Member& member : group.members) {
    if (kind == collection_kind::kInt64List || kind == collection_kind::kFloatList) {
      list += last_bytes(map_entry(member.collection.entry).value, kind);
      continue;
    }
    std::vector<std::string_view> items;
    for (const std::string_view item : member.collection.items)
      items.push_back(member.collection.kind == kind ? item : variable_names(item).variable);
    for (const std::string_view item : items) {
      // What two operands share is there as often as in the first.
      if (on_conflict_ == NameConflict::kShare && named && known.contains(std::string(item))) continue;
      append_bytes_field(list, 1, item);
    }
    known.insert(items.begin(), items.end());
  }
  std::string def, entry;
  append_bytes_field(def, kind, list);
  append_bytes_field(entry, 1, key);
  append_bytes_field(entry, 2, def);
  return entry;
}

void MergedSurroundings::unite_collections(MetaGraph& meta) {
  std::vector<Group> groups;
  std::map<std::string_view, size_t> places;
  for (const auto& part : parts_) {
    for (Collection& collection : collections(part->model.meta())) {
      const auto [at, fresh] = places.emplace(collection.key, groups.size());
      if (fresh) groups.push_back({collection.key, {}});
      groups[at->second].members.push_back({part.get(), std::move(collection)});
    }
  }
  std::vector<std::string> entries;
  for (Group& group : groups) {
    if (group.members.size() > 1)  // one that holds nothing is of any kind
      std::erase_if(group.members, [](const auto& member) { return member.collection.kind == 0; });
    std::vector<std::string> operations;
    std::unordered_set<std::string> known;
    size_t files = 0;  // that have any
    if (is_one_of(kRunCollections, group.key)) {
      const auto way = std::find(kLoaderInits.begin(), kLoaderInits.end(), group.key);
      for (const auto& part : parts_) {
        std::vector<std::string> own;
        for (const Collection& collection : collections(part->model.meta())) {
          if (collection.key != group.key || collection.kind != collection_kind::kNodeList) continue;
          for (const std::string_view item : collection.items) own.emplace_back(node_of(item));
        }
        if (own.empty() && way != kLoaderInits.end())
          own.push_back(init_of(*part, static_cast<size_t>(way - kLoaderInits.begin())));
        if (!own.empty() && !own.front().empty()) ++files;
        for (const std::string& operation : own) {
          if (!operation.empty() && known.insert(operation).second) operations.push_back(operation);
        }
      }
    }
    if (files > 1 && operations.size() > 1) {
      const std::string name = run_all(std::string(group.key), operations);
      entries.push_back(collection_entry(group.key, collection_kind::kNodeList, {name}));
    } else if (group.members.size() == 1) {
      entries.emplace_back(group.members.front().collection.entry);
    } else if (!group.members.empty()) {
      entries.push_back(united(group));
      if (group.key == "global_step" && on_conflict_ != NameConflict::kShare)
        warnings_.emplace_back("collection 'global_step' holds several; tf.train.get_global_step takes one");
    }
  }
  meta.set_parts(meta_field::kCollection, std::move(entries));
}

void MergedSurroundings::unite_savers(MetaGraph& meta, bool all_savers) {
  std::vector<std::string> savers;
  for (const auto& part : parts_) {
    const MetaGraph& own = part->model.meta();
    if (own.has(meta_field::kSaver) && !is_one_of(savers, own.part(meta_field::kSaver)))
      savers.emplace_back(own.part(meta_field::kSaver));
  }
  if (savers.empty()) return;
  meta.set_part(meta_field::kSaver, savers.front());
  if (!all_savers || savers.size() < 2) return;
  constexpr std::string_view kSavers = "savers";
  std::vector<std::string> entries, items;
  size_t at = std::string::npos;
  for (const Collection& collection : collections(meta)) {
    if (collection.key == kSavers) {
      at = entries.size();
      items.assign(collection.items.begin(), collection.items.end());
    }
    entries.emplace_back(collection.entry);
  }
  for (const std::string& saver : savers) {
    if (!is_one_of(items, saver)) items.push_back(saver);
  }
  std::string entry = collection_entry(kSavers, collection_kind::kBytesList, items);
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
