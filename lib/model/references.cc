#include "model/references.h"

#include <algorithm>
#include <array>

#include "base/wire.h"
#include "graph/references.h"

namespace gedit {
namespace {

constexpr SchemaField name(uint32_t number, NameKind kind = NameKind::kNode) {
  return {number, SchemaField::Is::kName, kind, nullptr};
}
constexpr SchemaField message(uint32_t number, const Schema& schema) {
  return {number, SchemaField::Is::kMessage, NameKind::kNode, &schema};
}
constexpr SchemaField map_value(uint32_t number, const Schema& schema) {
  return {number, SchemaField::Is::kMapValue, NameKind::kNode, &schema};
}

// variable.proto
constexpr std::array kSaveSliceFields{name(1, NameKind::kVariable)};
constexpr Schema kSaveSliceInfoDef{kSaveSliceFields};
constexpr std::array kVariableFields{name(1), name(2), name(3), message(4, kSaveSliceInfoDef), name(6)};

// queue_runner.proto, saver.proto
constexpr std::array kQueueRunnerFields{name(1), name(2), name(3), name(4)};
constexpr std::array kSaverFields{name(1), name(2), name(3)};

// control_flow.proto. external_values maps tensor names to tensor names; nested contexts hold contexts.
constexpr std::array kExternalFields{name(1), name(2)};
constexpr Schema kExternalValue{kExternalFields};
constexpr std::array kValuesFields{name(1), message(2, kExternalValue)};
constexpr Schema kValuesDef{kValuesFields};
extern const Schema kControlFlowContextDef;
constexpr std::array kCondFields{name(1, NameKind::kContext), name(2), name(3), message(5, kValuesDef),
                                 message(6, kControlFlowContextDef)};
constexpr std::array kWhileFields{name(1, NameKind::kContext),
                                  name(5),
                                  name(6),
                                  name(7),
                                  name(8),
                                  message(9, kValuesDef),
                                  name(10),
                                  name(11),
                                  message(12, kControlFlowContextDef)};
constexpr std::array kContextFields{message(1, kCondContextDef), message(2, kWhileContextDef)};
const Schema kControlFlowContextDef{kContextFields};

// meta_graph.proto
constexpr std::array kCooSparseFields{name(1), name(2), name(3)};
constexpr Schema kCooSparse{kCooSparseFields};
extern const Schema kTensorInfo;
constexpr std::array kCompositeFields{message(2, kTensorInfo)};
constexpr Schema kCompositeTensor{kCompositeFields};
constexpr std::array kTensorInfoFields{name(1), message(4, kCooSparse), message(5, kCompositeTensor)};
const Schema kTensorInfo{kTensorInfoFields};
constexpr std::array kSignatureFields{map_value(1, kTensorInfo), map_value(2, kTensorInfo)};
constexpr std::array kSignatureInputsFields{map_value(1, kTensorInfo)};
constexpr std::array kAssetFields{message(1, kTensorInfo)};
constexpr std::array kMetaInfoFields{SchemaField{8, SchemaField::Is::kMapKey, NameKind::kFunction, nullptr}};
constexpr std::array kAnyFields{SchemaField{2, SchemaField::Is::kAny, NameKind::kNode, &kAssetFileDef}};

// saved_object_graph.proto. CapturedTensor.name is a name inside its function, not of the main graph.
constexpr std::array kConstantFields{name(1)};
constexpr Schema kSavedConstant{kConstantFields};
constexpr std::array kOneFunctionFields{name(1, NameKind::kFunction)};
constexpr Schema kOneFunction{kOneFunctionFields};
constexpr std::array kCapturedFields{name(2, NameKind::kFunction)};
constexpr Schema kCapturedTensor{kCapturedFields};
extern const Schema kSavedVariable;
constexpr std::array kSavedVariableFields{name(6, NameKind::kVariable), message(8, kSavedVariable)};
const Schema kSavedVariable{kSavedVariableFields};
constexpr std::array kSavedObjectFields{message(6, kOneFunction), message(7, kSavedVariable),
                                        message(8, kOneFunction), message(9, kSavedConstant),
                                        message(12, kCapturedTensor)};
constexpr Schema kSavedObject{kSavedObjectFields};
constexpr std::array kObjectGraphFields{
    message(1, kSavedObject), SchemaField{2, SchemaField::Is::kMapKey, NameKind::kFunction, nullptr}};

const SchemaField* find(const Schema& schema, uint32_t number) {
  for (const SchemaField& field : schema.fields) {
    if (field.number == number) return &field;
  }
  return nullptr;
}

bool map_into(std::string_view bytes, const Schema& schema, const NameMap& map, int depth, std::string& out);

// One entry of a map: its key or its value changes. False: the entry is left out.
bool map_map_entry(const Field& field, const SchemaField& rule, const NameMap& map, int depth,
                   std::string& out) {
  std::string mapped;
  for (Fields entry(field.value); entry.next();) {
    std::string text;
    if (rule.is == SchemaField::Is::kMapKey && entry->bytes(1)) {
      if (!map.map(rule.kind, entry->value, text)) return false;
      append_bytes_field(mapped, 1, text);
    } else if (rule.is == SchemaField::Is::kMapValue && entry->bytes(2)) {
      map_into(entry->value, *rule.schema, map, depth + 1, text);
      append_bytes_field(mapped, 2, text);
    } else {
      mapped += entry->raw;
    }
  }
  append_bytes_field(out, field.number, mapped);
  return true;
}

// False where a name that makes up the message is left out (an external value): the whole goes.
bool map_into(std::string_view bytes, const Schema& schema, const NameMap& map, int depth, std::string& out) {
  if (depth > kDeepest) throw Malformed(bytes.data(), "messages nest too deep");
  bool whole = true;
  for (Fields fields(bytes); fields.next();) {
    const SchemaField* rule = fields->wire == Wire::kBytes ? find(schema, fields->number) : nullptr;
    if (rule == nullptr) {
      out += fields->raw;
      continue;
    }
    std::string text;
    switch (rule->is) {
      case SchemaField::Is::kName:
        if (fields->value.empty()) {  // not set
          out += fields->raw;
        } else if (map.map(rule->kind, fields->value, text)) {
          append_bytes_field(out, fields->number, text);
        } else {
          whole = false;
        }
        break;
      case SchemaField::Is::kMessage:
        if (map_into(fields->value, *rule->schema, map, depth + 1, text) || rule->schema != &kExternalValue) {
          append_bytes_field(out, fields->number, text);
        }
        break;
      case SchemaField::Is::kAny:
        map_into(fields->value, *rule->schema, map, depth + 1, text);
        append_bytes_field(out, fields->number, text);
        break;
      default:
        map_map_entry(fields.field(), *rule, map, depth, out);
    }
  }
  return whole;
}

}  // namespace

const Schema kVariableDef{kVariableFields};
const Schema kQueueRunnerDef{kQueueRunnerFields};
const Schema kSaverDef{kSaverFields};
const Schema kCondContextDef{kCondFields};
const Schema kWhileContextDef{kWhileFields};
const Schema kSignatureDef{kSignatureFields};
const Schema kSignatureInputs{kSignatureInputsFields};
const Schema kAssetFileDef{kAssetFields};
const Schema kSavedObjectGraph{kObjectGraphFields};
const Schema kMetaInfoDef{kMetaInfoFields};
const Schema kAnyItem{kAnyFields};

std::string map_names(std::string_view message, const Schema& schema, const NameMap& map) {
  // Of the types that a google.protobuf.Any may hold only an asset names a tensor.
  if (&schema == &kAnyItem && !last_bytes(message, 1).ends_with("/tensorflow.AssetFileDef"))
    return std::string(message);
  std::string out;
  map_into(message, schema, map, 0, out);
  return out;
}

const RegisteredCollection* registered_collection(std::string_view key) {
  static constexpr std::array kRegistered{
      RegisteredCollection{"variables", "VariableDef", kVariableDef},
      RegisteredCollection{"trainable_variables", "VariableDef", kVariableDef},
      RegisteredCollection{"moving_average_variables", "VariableDef", kVariableDef},
      RegisteredCollection{"local_variables", "VariableDef", kVariableDef},
      RegisteredCollection{"model_variables", "VariableDef", kVariableDef},
      RegisteredCollection{"metric_variables", "VariableDef", kVariableDef},
      RegisteredCollection{"global_step", "VariableDef", kVariableDef},
      RegisteredCollection{"queue_runners", "QueueRunnerDef", kQueueRunnerDef},
      RegisteredCollection{"savers", "SaverDef", kSaverDef},
      RegisteredCollection{"cond_context", "CondContextDef", kCondContextDef},
      RegisteredCollection{"while_context", "WhileContextDef", kWhileContextDef},
  };
  const auto found = std::ranges::find(kRegistered, key, &RegisteredCollection::key);
  return found == kRegistered.end() ? nullptr : &*found;
}

const Schema* collection_schema(std::string_view key) {
  const RegisteredCollection* registered = registered_collection(key);
  return registered == nullptr ? nullptr : &registered->schema;
}

bool holds_variables(std::string_view key) { return collection_schema(key) == &kVariableDef; }

}  // namespace gedit
