#include "edit/changing/insert_contexts.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/map_entry.h"
#include "model/collections.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// What a CondContextDef and a WhileContextDef have in common (tensorflow/core/protobuf/control_flow.proto).
struct ContextFields {
  uint32_t values, nested;
  bool loop;
};
constexpr ContextFields kCond{5, 6, false}, kWhile{9, 12, true};

// In the order in which TensorFlow imports them: a later context takes a node away from an earlier one.
struct ContextCollection {
  std::string_view key;
  ContextFields fields;
};
constexpr std::array kContextCollections{ContextCollection{"cond_context", kCond},
                                         ContextCollection{"while_context", kWhile}};

// Calls use(def, fields) for each context that stands directly in this one.
template <typename Use>
void each_nested(std::string_view context, const ContextFields& of, Use use) {
  for (Fields fields(context); fields.next();) {
    if (!fields->bytes(of.nested)) continue;
    for (Fields one(fields->value); one.next();) {
      if (one->bytes(1)) use(one->value, kCond);
      if (one->bytes(2)) use(one->value, kWhile);
    }
  }
}

using Gained = std::unordered_map<const char*, std::vector<std::string>>;  // by where a context begins

// The context that each target's new node belongs to.
class ContextSearch {
 public:
  explicit ContextSearch(const InsertPlace& place) {
    for (const InsertedBehind& target : place.targets()) {
      of_node_[target.name].push_back(&target);
      if (is_exit_op(node_op(place.graph().bytes(target.node)))) exits_.insert(target.name);
    }
  }

  // `outer`: where the context around this one begins; null for none.
  void look(std::string_view context, const ContextFields& of, const char* outer, int depth) {
    if (depth > kDeepest) throw Malformed(context.data(), "messages nest too deep");
    for (Fields fields(context); fields.next();) {
      if (!fields->bytes(of.values)) continue;
      std::unordered_set<std::string_view> outside;  // listed among the values, too
      for (Fields values(fields->value); values.next();) {
        if (values->bytes(2)) outside.insert(map_entry(values->value).key);
      }
      for (Fields values(fields->value); values.next();) {
        if (!values->bytes(1) || outside.contains(values->value)) continue;
        const std::string_view node = node_of(values->value);
        const auto found = of_node_.find(node);
        if (found == of_node_.end()) continue;
        place_of_[found->first] = of.loop && exits_.contains(found->first) ? outer : context.data();
      }
    }
    each_nested(context, of, [&](std::string_view inner, const ContextFields& fields) {
      look(inner, fields, context.data(), depth + 1);
    });
  }

  // The names that each context gains.
  Gained gained() const {
    Gained names;
    for (const auto& [node, context] : place_of_) {
      for (const InsertedBehind* target : of_node_.find(node)->second) {
        if (context != nullptr) names[context].push_back(target->inserted + ":0");
      }
    }
    return names;
  }

 private:
  std::map<std::string, std::vector<const InsertedBehind*>, std::less<>> of_node_;
  std::set<std::string, std::less<>> exits_;
  std::map<std::string_view, const char*> place_of_;
};

// `values` with more names, which stand behind those that are there.
std::string with_names(std::string_view values, const std::vector<std::string>& names) {
  std::string listed, rest;
  for (Fields fields(values); fields.next();) (fields->bytes(1) ? listed : rest) += fields->raw;
  for (const std::string& name : names) append_bytes_field(listed, 1, name);
  return listed + rest;
}

std::string extended(std::string_view context, const ContextFields& of, const Gained& gained) {
  const auto names = gained.find(context.data());
  std::string out;
  for (Fields fields(context); fields.next();) {
    if (fields->bytes(of.values) && names != gained.end()) {
      append_bytes_field(out, of.values, with_names(fields->value, names->second));
    } else if (fields->bytes(of.nested)) {
      std::string nested;
      for (Fields one(fields->value); one.next();) {
        if (one->bytes(1) || one->bytes(2)) {
          const ContextFields& inner = one->number == 1 ? kCond : kWhile;
          append_bytes_field(nested, one->number, extended(one->value, inner, gained));
        } else {
          nested += one->raw;
        }
      }
      append_bytes_field(out, of.nested, nested);
    } else {
      out += fields->raw;
    }
  }
  return out;
}

}  // namespace

InsertContexts::InsertContexts(const InsertPlace& place) {
  if (place.facts() == nullptr) return;  // functions have none
  const std::vector<Collection>& all = place.facts()->collections();
  const auto fields_of = [](const Collection& collection) {
    const auto found = std::ranges::find(kContextCollections, collection.key, &ContextCollection::key);
    const bool contexts =
        found != kContextCollections.end() && collection.kind == collection_kind::kBytesList;
    return contexts ? &found->fields : nullptr;
  };
  ContextSearch search(place);
  for (const ContextCollection& wanted : kContextCollections) {
    for (const Collection& collection : all) {
      if (collection.key != wanted.key || fields_of(collection) == nullptr) continue;
      for (const std::string_view item : collection.items) search.look(item, wanted.fields, nullptr, 0);
    }
  }
  const Gained gained = search.gained();
  if (gained.empty()) return;
  for (const Collection& collection : all) {
    const ContextFields* fields = fields_of(collection);
    if (fields == nullptr) {
      collections_.emplace_back(collection.entry);
      continue;
    }
    std::vector<std::string> items;
    for (const std::string_view item : collection.items) items.push_back(extended(item, *fields, gained));
    collections_.push_back(collection_entry(collection.key, collection.kind, items));
  }
}

void InsertContexts::apply(Model& model) {
  if (!collections_.empty()) model.meta().set_parts(meta_field::kCollection, std::move(collections_));
}

}  // namespace gedit
