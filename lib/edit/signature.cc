// gedit signature: the signatures of a MetaGraph, added, renamed and removed.
#include "edit/edits.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/map_entry.h"
#include "base/message_edit.h"
#include "base/near.h"
#include "edit/functions/function_def.h"
#include "edit/objects/signature_parts.h"
#include "edit/objects/signatures.h"

namespace gedit {
namespace {

struct Renames {
  std::string to;  // the key; empty: stays
  NameTable inputs, outputs;
};

struct SignaturePair {
  std::string key;
  uint32_t side = 0;  // kInput, kOutput; 0: the key itself
  std::string from, to;
};

SignaturePair parse_pair(const SignatureDefs& signatures, const std::string& text) {
  SignaturePair pair;
  for (const auto& [word, side] : {std::pair<std::string_view, uint32_t>{".inputs[", signature_field::kInput},
                                   {".outputs[", signature_field::kOutput}}) {
    const size_t at = text.find(word);
    const size_t close = at == std::string::npos ? at : text.find("]=", at);
    if (close == std::string::npos) continue;
    const size_t begin = at + word.size();
    pair = {text.substr(0, at), side, text.substr(begin, close - begin), text.substr(close + 2)};
  }
  if (pair.side == 0) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw misused(text, "is no OLD=NEW").hint("KEY=NEW, 'KEY.inputs[x]=NEW' or 'KEY.outputs[y]=NEW'");
    pair.key = pair.from = text.substr(0, equals);
    pair.to = text.substr(equals + 1);
  }
  if (pair.to.empty()) throw misused(text, "the new name is missing");
  if (pair.to.find(".inputs[") != std::string::npos || pair.to.find(".outputs[") != std::string::npos)
    throw misused(text, "the new name alone stands behind the =");
  signatures.require(pair.key);
  if (pair.side == 0 && pair.to.starts_with(kReservedKeys))
    throw refused("is TensorFlow's own").of(quoted("signature", pair.to));
  return pair;
}

std::set<std::string> keys_of(std::string_view def, uint32_t side) {
  std::set<std::string> keys;
  for (Fields fields(def); fields.next();) {
    if (fields->bytes(side)) keys.emplace(map_entry(fields->value).key);
  }
  return keys;
}

// Refuses names that nothing has, and two things that end up with one name. `subject` makes the message's.
template <typename Subject>
void check_names(const NameTable& names, const std::set<std::string>& there, const char* what,
                 Subject subject) {
  std::map<std::string_view, size_t> given;  // how often each new name
  for (const auto& name : names) ++given[name.second];
  for (const auto& name : names) {
    const auto& from = name.first;
    const auto& to = name.second;
    if (!there.contains(from)) {
      Near near(from);
      for (const std::string& key : there) near.offer(key);
      throw refused(std::string("no such ") + what).of(subject(from)).hint(near.did_you_mean_or_all());
    }
    const bool taken = there.contains(to) && from != to && !names.contains(to);
    if (taken || given[to] > 1)
      throw refused("'" + printable(to) + "' is taken").of(subject(from)).hint("rename that too");
  }
}

// Field `side` of a SignatureDef: entries whose key is renamed.
std::string rename_entries(std::string_view def, uint32_t side, const NameTable& names) {
  return with_each_field(def, side, [&](std::string_view bytes) {
    const MapEntry entry = map_entry(bytes);
    const auto found = names.find(entry.key);
    return found == names.end() ? std::string(bytes) : map_entry_bytes(found->second, entry.value);
  });
}

}  // namespace

Changes rename_signatures(Model& model, Registry& ops, const std::vector<std::string>& pairs) {
  if (pairs.empty()) throw Error(Cause::kUsage, "what is to be renamed?").hint("OLD=NEW");
  MetaGraph& meta = model.meta();
  SignatureDefs signatures(meta);
  Changes changes;
  NameTable keys;
  std::map<std::string, Renames> tensors;
  for (const std::string& text : pairs) {
    SignaturePair pair = parse_pair(signatures, text);
    NameTable& table = pair.side == 0                         ? keys
                       : pair.side == signature_field::kInput ? tensors[pair.key].inputs
                                                              : tensors[pair.key].outputs;
    if (!table.emplace(pair.from, pair.to).second)
      throw misused(text, "'" + text.substr(0, text.rfind('=')) + "' is given twice");
    changes.changed.emplace_back(text.substr(0, text.size() - pair.to.size() - 1), pair.to);
  }
  std::set<std::string> known;
  for (const std::string_view bytes : meta.parts_of(meta_field::kSignature))
    known.emplace(map_entry(bytes).key);
  check_names(keys, known, "signature", [](std::string_view key) { return quoted("signature", key); });
  for (const auto& [key, renames] : tensors) {
    const std::string_view def = signatures.def(key);
    const auto subject = [&key = key](const char* side) {
      return [prefix = key + side](std::string_view name) {
        return quoted("tensor", prefix + std::string(name) + "]");
      };
    };
    check_names(renames.inputs, keys_of(def, signature_field::kInput), "input in the signature",
                subject(".inputs["));
    check_names(renames.outputs, keys_of(def, signature_field::kOutput), "output in the signature",
                subject(".outputs["));
  }

  ObjectsOfMeta objects(meta);
  if (SavedObjects* saved = objects.get()) {
    Graph& graph = model.graph();
    Library library = Library::decode(graph.part(graph_field::kLibrary), model.arena);
    const size_t before = library.functions.size();
    for (const auto& [key, renames] : tensors) {
      rename_signature_tensors(*saved, library, ops, model.arena, key, renames.inputs, renames.outputs);
    }
    rename_signature_objects(*saved, keys);
    if (library.functions.size() != before) graph.set_part(graph_field::kLibrary, library.encode());
    for (size_t i = before; i < library.functions.size(); ++i)
      changes.added.emplace_back("fn:" + std::string(library.functions[i].name), "function");
  }
  objects.store();
  signatures.change([&](const std::string& key, std::string& def) {
    if (const auto found = tensors.find(key); found != tensors.end()) {
      def = rename_entries(def, signature_field::kInput, found->second.inputs);
      def = rename_entries(def, signature_field::kDefault, found->second.inputs);
      def = rename_entries(def, signature_field::kOutput, found->second.outputs);
    }
    const auto to = keys.find(key);
    return to == keys.end() ? key : to->second;
  });
  signatures.store();
  return changes;
}

Changes remove_signatures(Model& model, const std::vector<std::string>& keys) {
  if (keys.empty()) throw Error(Cause::kUsage, "which signature?").hint("gedit signature remove FILE KEY..");
  MetaGraph& meta = model.meta();
  SignatureDefs signatures(meta);
  ObjectsOfMeta objects(meta);
  Changes changes;
  std::set<std::string, std::less<>> gone;
  for (const std::string& key : keys) {
    signatures.require(key);
    if (gone.insert(key).second) changes.removed.emplace_back(key, "signature");
  }
  signatures.remove(gone);
  if (SavedObjects* saved = objects.get()) remove_signature_objects(*saved, gone);
  signatures.store();
  objects.store();
  return changes;
}

}  // namespace gedit
