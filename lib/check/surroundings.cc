#include "check/surroundings.h"

#include <array>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/message_edit.h"
#include "base/size.h"
#include "model/collections.h"
#include "model/init_op.h"
#include "model/references.h"
#include "model/saver_def.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// Why there is no such node or tensor; empty where there is.
std::string missing(const CheckedGraph& in, std::string_view name) {
  const Input input = parse_input(name);
  if (input.control) return "names '" + std::string(name) + "', a control input";
  const NodeId id = in.names.find(input.node);
  if (id == kNoNode) return "names " + quoted("node", input.node) + ", which is not there";
  if (input.port.empty()) return {};
  if (in.source(name, id).found) return {};
  return "names " + quoted("tensor", name) + ", " + quoted("node", input.node) + " (" +
         std::string(in.graph.op(id)) + ") has " + counted_or_no(in.outputs(id).size(), "output");
}

Rule rule_of(const Schema& schema) {
  if (&schema == &kVariableDef) return Rule::kVariable;
  if (&schema == &kQueueRunnerDef) return Rule::kQueueRunner;
  if (&schema == &kSaverDef) return Rule::kSaver;
  return Rule::kContext;
}

// What an item of a collection of protos is called.
std::string item_subject(const Schema& schema, std::string_view item) {
  if (&schema == &kVariableDef) return std::string(node_of(variable_names(item).variable));
  if (&schema == &kSaverDef) return std::string(parse_saver_def(item).restore);
  return std::string(last_bytes(item, 1));  // context_name; of a QueueRunnerDef the queue
}

// Names that Python looks up in the graph whatever they are (from_proto of each), the empty one too.
struct RequiredName {
  const Schema* message;
  uint32_t field;
  std::string_view name;
};
constexpr std::array kRequired{
    RequiredName{&kVariableDef, 1, "variable_name"},
    RequiredName{&kVariableDef, 2, "initializer_name"},
    RequiredName{&kVariableDef, 3, "snapshot_name"},
    RequiredName{&kCondContextDef, 2, "pred_name"},
    RequiredName{&kCondContextDef, 3, "pivot_name"},
    RequiredName{&kWhileContextDef, 5, "pivot_name"},
    RequiredName{&kWhileContextDef, 6, "pivot_for_pred_name"},
    RequiredName{&kWhileContextDef, 7, "pivot_for_body_name"},
    RequiredName{&kQueueRunnerDef, 1, "queue_name"},
    RequiredName{&kQueueRunnerDef, 3, "close_op_name"},
    RequiredName{&kQueueRunnerDef, 4, "cancel_op_name"},
};

bool is_resource_variable(std::string_view variable_def) { return last_varint(variable_def, 5) != 0; }

class AroundChecker {
 public:
  AroundChecker(const CheckedGraph& in, const Model& model, const MetaGraph& meta, Report& report)
      : in_(in), model_(model), meta_(meta), report_(report) {}

  void run() {
    for (const Collection& collection : collections(meta_)) check_collection(collection);
    if (meta_.has(meta_field::kSaver)) saver(meta_.part(meta_field::kSaver));
    for (const std::string_view part : meta_.parts_of(meta_field::kSignature)) signature(map_entry(part));
    for (const std::string_view part : meta_.parts_of(meta_field::kAsset)) asset(part);
  }

 private:
  // One name often stands in many fields: what was told of a subject is not told again.
  void names(std::string_view message, const Schema& schema, Rule rule, const std::string& subject) {
    each_name(message, schema, [&](const SchemaField& field, std::string_view name, int) {
      const std::string fault = field.kind == NameKind::kNode ? missing(in_, name) : "";
      if (!fault.empty() && told_.insert(subject + ": " + fault).second) report_.add(rule, subject, fault);
    });
  }

  void required(std::string_view message, const Schema& schema, Rule rule, const std::string& subject) {
    for (const RequiredName& row : kRequired) {
      if (row.message != &schema || !last_bytes(message, row.field).empty()) continue;
      // The value of a resource variable is read where no snapshot is named.
      if (&schema == &kVariableDef && row.field == 3 && is_resource_variable(message)) continue;
      report_.add(rule, subject, "has no " + std::string(row.name));
    }
    for (Fields fields(message); &schema == &kQueueRunnerDef && fields.next();) {
      if (fields->bytes(2) && fields->value.empty())
        report_.add(rule, subject, "has an empty enqueue_op_name");
    }
  }

  void definition(std::string_view key, std::string_view item, const Schema& schema) {
    const std::string subject = item_subject(schema, item);
    if (&schema == &kVariableDef && !same_variable(key, item)) return;
    names(item, schema, rule_of(schema), subject);
    required(item, schema, rule_of(schema), subject);
  }

  void check_collection(const Collection& collection) {
    const CollectionRow row = collection_row(collection.key);
    const Schema* schema = row.schema;
    if (collection.kind == collection_kind::kBytesList && schema != nullptr) {
      for (size_t i = 0; i < collection.items.size(); ++i) {
        try {
          definition(collection.key, collection.items[i], *schema);
        } catch (const Malformed&) {  // TensorFlow's import ends here
          report_.add(Rule::kCollection, std::string(collection.key),
                      "item " + std::to_string(i) + " is not the message that this collection holds");
        }
      }
    }
    if (collection.kind == collection_kind::kAnyList && collection.key == collection_key::kAssets) {
      for (const std::string_view item : collection.items) {
        if (last_bytes(item, 1).ends_with("/tensorflow.AssetFileDef")) asset(last_bytes(item, 2));
      }
    }
    if (collection.kind != collection_kind::kNodeList) return;
    const bool init = row.is(collection_trait::kLoaderRuns);
    for (const std::string_view item : collection.items) {
      const std::string fault = missing(in_, item);
      if (!fault.empty())
        report_.add(init ? Rule::kInitOp : Rule::kCollection, std::string(collection.key), fault);
    }
    if (init && collection.items.size() > 1) {
      report_.add(Rule::kInitOp, std::string(collection.key),
                  "holds " + std::to_string(collection.items.size()) + " ops, at most one is run");
    }
  }

  // Whether the definition is the first of its variable; another one must be the same bytes.
  bool same_variable(std::string_view key, std::string_view item) {
    const std::string_view variable = variable_names(item).variable;
    const auto [known, fresh] = variables_.try_emplace(variable, std::pair{key, item});
    if (fresh) return true;
    if (known->second.second != item && differing_.insert(variable).second) {
      report_.add(Rule::kVariable, item_subject(kVariableDef, item),
                  "its VariableDefs in " + quoted("collection", known->second.first) + " and " +
                      quoted("collection", key) + " differ");
    }
    return known->second.second != item;  // its own names are looked at, too
  }

  void saver(std::string_view def) {
    if (def.empty()) return;
    const SaverDef saver = parse_saver_def(def);
    const std::string subject(saver.restore.empty() ? "saver" : saver.restore);
    names(def, kSaverDef, Rule::kSaver, subject);
    if (saver.filename.empty() && saver.save.empty() && saver.restore.empty()) return;
    const auto must_have = [&](std::string_view value, const std::string& field) {
      if (value.empty()) report_.add(Rule::kSaver, subject, "has no " + field);
    };
    must_have(saver.filename, "filename_tensor_name");
    must_have(saver.save, "save_tensor_name");
    must_have(saver.restore, "restore_op_name");
  }

  void signature(const MapEntry& entry) {
    const bool init = entry.key == signature_key::kInit || entry.key == signature_key::kTrain;
    names(entry.value, kSignatureDef, init ? Rule::kInitOp : Rule::kSignature, std::string(entry.key));
    if (init) return;
    for (Fields fields(entry.value); fields.next();) {
      if (!fields->bytes(1) && !fields->bytes(2)) continue;
      const MapEntry tensor = map_entry(fields->value);
      std::string subject(entry.key);
      subject += fields->number == 1 ? ".inputs[" : ".outputs[";
      subject += std::string(tensor.key) + "]";
      tensor_info(tensor.value, subject);
    }
    fed(entry);
  }

  // Whoever runs the signature feeds its inputs alone. Looks at kMostLooks nodes for all signatures together:
  // a thousand may come of the same million nodes.
  void fed(const MapEntry& signature) {
    constexpr uint64_t kMostLooks = 10'000'000;
    std::unordered_set<uint32_t> seen;
    const auto node = [&](std::string_view name) { return in_.names.find(parse_input(name).node); };
    each_name(signature.value, kSignatureInputs, [&](const SchemaField&, std::string_view name, int) {
      if (const NodeId id = node(name); id != kNoNode) seen.insert(index_of(id));
    });
    std::vector<NodeId> open;
    const auto want = [&](NodeId id) {
      if (id != kNoNode && seen.insert(index_of(id)).second) open.push_back(id);
    };
    const std::string outputs =
        only_fields(signature.value, [](const Field& field) { return field.bytes(2); });
    each_name(outputs, kSignatureDef,
              [&](const SchemaField&, std::string_view name, int) { want(node(name)); });
    while (!open.empty() && looks_++ < kMostLooks) {
      const NodeId id = open.back();
      open.pop_back();
      if (in_.graph.is(id, OpKind::kMustBeFed)) {
        report_.warn(Rule::kSignature, std::string(signature.key),
                     "its outputs need placeholder '" + std::string(in_.graph.name(id)) +
                         "', which is none of its inputs");
      }
      for (const NodeId source : in_.producers.of(id)) want(source);
    }
  }

  void tensor_info(std::string_view info, const std::string& subject) {
    const std::string_view name = last_bytes(info, 1);
    const auto stated = static_cast<DType>(last_varint(info, 2));
    if (name.empty()) {
      if (!has_field(info, 4) && !has_field(info, 5))
        report_.add(Rule::kSignature, subject, "names no tensor");
      return;
    }
    if (stated == DType::kInvalid) return;
    const Source source = in_.source(name, in_.names.find(parse_input(name).node));
    if (!source.found || source.types.empty() || source.types[0] == DType::kInvalid) return;
    const DType is = base_type(source.types[0]);
    // A resource or variant may be told as what it holds.
    if (is == base_type(stated) || is == DType::kResource || is == DType::kVariant) return;
    // Whoever feeds and fetches goes by the tensor.
    report_.warn(Rule::kSignature, subject,
                 "is " + dtype_name(stated) + ", " + quoted("tensor", name) + " is " + dtype_name(is));
  }

  void asset(std::string_view def) {
    const std::string file(last_bytes(def, 2));
    if (!assets_.emplace(last_bytes(last_bytes(def, 1), 1), file).second) return;  // both encodings
    names(def, kAssetFileDef, Rule::kAsset, file);
    if (file.empty() || file.find('/') != std::string::npos || file == "..") {
      return report_.add(Rule::kAsset, file, "not the name of a file in assets/");
    }
    if (model_.kind != Kind::kSavedModel || !model_.directory) return;
    if (!exists(join_path(join_path(model_.folder, "assets"), file)))
      report_.add(Rule::kAsset, file, "no such file in assets/");
  }

  const CheckedGraph& in_;
  const Model& model_;
  const MetaGraph& meta_;
  Report& report_;
  std::unordered_map<std::string_view, std::pair<std::string_view, std::string_view>> variables_;
  std::set<std::string_view> differing_;
  std::set<std::string> told_;
  uint64_t looks_ = 0;
  std::set<std::pair<std::string_view, std::string>> assets_;
};

}  // namespace

void check_surroundings(const CheckedGraph& in, const Model& model, const MetaGraph& meta, Report& report) {
  AroundChecker(in, model, meta, report).run();
}

}  // namespace gedit
