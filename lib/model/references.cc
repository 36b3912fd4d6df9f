#include "model/references.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_set>
#include <vector>

#include "base/wire.h"
#include "graph/references.h"
#include "model/sorted_maps.h"

namespace gedit {
namespace {

constexpr uint8_t kNeeded = name_role::kNeeded, kSubject = name_role::kSubject,
                  kOutside = name_role::kOutside, kGoesAlone = name_role::kGoesAlone;

constexpr SchemaField name(uint32_t number, uint8_t roles = 0) {
  return {number, SchemaField::Is::kName, NameKind::kNode, nullptr, roles};
}
constexpr SchemaField name(uint32_t number, NameKind kind) {
  return {number, SchemaField::Is::kName, kind, nullptr};
}
constexpr SchemaField message(uint32_t number, const Schema& schema, uint8_t roles = 0) {
  return {number, SchemaField::Is::kMessage, NameKind::kNode, &schema, roles};
}
constexpr SchemaField map_value(uint32_t number, const Schema& schema) {
  return {number, SchemaField::Is::kMapValue, NameKind::kNode, &schema};
}

// variable.proto
constexpr std::array kSaveSliceFields{name(1, NameKind::kVariable)};
constexpr Schema kSaveSliceInfoDef{kSaveSliceFields};
constexpr std::array kVariableFields{name(1, kNeeded | kSubject), name(2, kNeeded | kOutside),
                                     name(3, kNeeded | kOutside), message(4, kSaveSliceInfoDef),
                                     name(6, kNeeded | kOutside)};

// queue_runner.proto, saver.proto. A runner works on its queue with all of its operations or not at all.
constexpr std::array kQueueRunnerFields{name(1, kNeeded | kSubject), name(2, kNeeded | kSubject),
                                        name(3, kNeeded | kSubject), name(4, kNeeded | kSubject)};
constexpr std::array kSaverFields{name(1), name(2), name(3)};

// control_flow.proto. external_values maps tensor names to tensor names; nested contexts hold contexts.
// A context is its predicate and pivots; values may go, and with a variable of the loop its enter and exit.
// So may a nested context: the loops of gradients lie in the cond whose branch holds the forward loop.
constexpr std::array kExternalFields{name(1, kNeeded), name(2, kNeeded | name_role::kInside)};
constexpr Schema kExternalValue{kExternalFields};
constexpr uint32_t kExternal = 2;
constexpr std::array kValuesFields{name(1), message(kExternal, kExternalValue, kGoesAlone)};
constexpr Schema kValuesDef{kValuesFields};
extern const Schema kControlFlowContextDef;
constexpr std::array kCondFields{name(1, NameKind::kContext), name(2, kNeeded | kOutside),
                                 name(3, kNeeded | kSubject), message(5, kValuesDef),
                                 message(6, kControlFlowContextDef, kGoesAlone)};
constexpr std::array kWhileFields{name(1, NameKind::kContext),
                                  name(5, kNeeded | kSubject),
                                  name(6, kNeeded),
                                  name(7, kNeeded),
                                  name(8),
                                  message(9, kValuesDef),
                                  name(10),
                                  name(11, kNeeded | kOutside),
                                  message(12, kControlFlowContextDef, kGoesAlone)};
constexpr std::array kContextFields{message(1, kCondContextDef), message(2, kWhileContextDef)};
const Schema kControlFlowContextDef{kContextFields};

// meta_graph.proto
constexpr std::array kCooSparseFields{name(1, kNeeded), name(2, kNeeded), name(3, kNeeded)};
constexpr Schema kCooSparse{kCooSparseFields};
constexpr std::array kCompositeFields{message(2, kTensorInfo)};
constexpr Schema kCompositeTensor{kCompositeFields};
constexpr std::array kTensorInfoFields{name(1, kNeeded), message(4, kCooSparse),
                                       message(5, kCompositeTensor)};
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

// What comes from outside is listed among the values of a context, too (ops/control_flow_ops.py, AddValue):
// what comes in no more is to be left out there, or the importer would take it for a value of the context.
std::unordered_set<std::string_view> no_longer_external(std::string_view values, const NameMap& map,
                                                        int depth) {
  std::unordered_set<std::string_view> gone;
  for (Fields fields(values); fields.next();) {
    std::string text;
    if (fields->bytes(kExternal) && !map_into(fields->value, kExternalValue, map, depth + 1, text))
      gone.insert(map_entry(fields->value).key);
  }
  return gone;
}

// False where a name is left out that the message needs.
bool map_into(std::string_view bytes, const Schema& schema, const NameMap& map, int depth, std::string& out) {
  if (depth > kDeepest) throw Malformed(bytes.data(), "messages nest too deep");
  std::unordered_set<std::string_view> gone;
  if (&schema == &kValuesDef) gone = no_longer_external(bytes, map, depth);
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
        } else if (gone.contains(fields->value)) {
          continue;
        } else if (map.map(rule->kind, fields->value, text)) {
          append_bytes_field(out, fields->number, text);
        } else {
          whole = whole && !rule->has(kNeeded);
        }
        break;
      case SchemaField::Is::kMessage: {
        const bool part = map_into(fields->value, *rule->schema, map, depth + 1, text);
        if (part || !rule->has(kGoesAlone)) append_bytes_field(out, fields->number, text);
        whole = whole && (part || rule->has(kGoesAlone));
        break;
      }
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

// `leaving`: roles of messages that are passed over.
void each_name_in(std::string_view bytes, const Schema& schema, uint8_t leaving, const NameUse& use,
                  int depth) {
  if (depth > kDeepest) throw Malformed(bytes.data(), "messages nest too deep");
  for (Fields fields(bytes); fields.next();) {
    const SchemaField* rule = fields->wire == Wire::kBytes ? find(schema, fields->number) : nullptr;
    if (rule == nullptr || rule->has(leaving)) continue;
    switch (rule->is) {
      case SchemaField::Is::kName:
        if (!fields->value.empty()) use(*rule, fields->value, depth);
        break;
      case SchemaField::Is::kMessage:
      case SchemaField::Is::kAny:
        each_name_in(fields->value, *rule->schema, leaving, use, depth + 1);
        break;
      case SchemaField::Is::kMapKey:
        use(*rule, map_entry(fields->value).key, depth);
        break;
      case SchemaField::Is::kMapValue:
        each_name_in(map_entry(fields->value).value, *rule->schema, leaving, use, depth + 1);
        break;
    }
  }
}

// Of the types that a google.protobuf.Any may hold only an asset names a tensor.
bool names_nothing(std::string_view message, const Schema& schema) {
  return &schema == &kAnyItem && !last_bytes(message, 1).ends_with("/tensorflow.AssetFileDef");
}

std::string sorted_into(std::string_view bytes, const Schema& schema, int depth) {
  if (depth > kDeepest) throw Malformed(bytes.data(), "messages nest too deep");
  std::string out;
  std::map<uint32_t, std::vector<std::string>> entries;  // by field
  for (Fields fields(bytes); fields.next();) {
    const SchemaField* rule = fields->wire == Wire::kBytes ? find(schema, fields->number) : nullptr;
    const bool map =
        rule != nullptr && (rule->is == SchemaField::Is::kMapKey || rule->is == SchemaField::Is::kMapValue ||
                            rule->schema == &kExternalValue);
    if (map) {
      entries[fields->number].emplace_back(fields->raw);
    } else if (rule != nullptr && rule->is == SchemaField::Is::kMessage) {
      append_bytes_field(out, fields->number, sorted_into(fields->value, *rule->schema, depth + 1));
    } else {
      out += fields->raw;
    }
  }
  for (auto& [number, list] : entries) {
    std::ranges::sort(list);
    for (const std::string& entry : list) out += entry;
  }
  return out;
}

}  // namespace

const Schema kVariableDef{kVariableFields, "VariableDef"};
const Schema kQueueRunnerDef{kQueueRunnerFields, "QueueRunnerDef"};
const Schema kSaverDef{kSaverFields, "SaverDef"};
const Schema kCondContextDef{kCondFields, "CondContextDef"};
const Schema kWhileContextDef{kWhileFields, "WhileContextDef"};
const Schema kTensorInfo{kTensorInfoFields};
const Schema kSignatureDef{kSignatureFields};
const Schema kSignatureInputs{kSignatureInputsFields};
const Schema kAssetFileDef{kAssetFields};
const Schema kSavedObjectGraph{kObjectGraphFields};
const Schema kMetaInfoDef{kMetaInfoFields};
const Schema kAnyItem{kAnyFields};

std::string with_maps_sorted(std::string_view message, const Schema& schema) {
  return sorted_into(message, schema, 0);
}

std::string map_names(std::string_view message, const Schema& schema, const NameMap& map) {
  if (names_nothing(message, schema)) return std::string(message);
  std::string out;
  map_into(message, schema, map, 0, out);
  return out;
}

void each_name(std::string_view message, const Schema& schema, const NameUse& use) {
  if (!names_nothing(message, schema)) each_name_in(message, schema, 0, use, 0);
}

void each_needed_name(std::string_view message, const Schema& schema, const NameUse& use) {
  if (names_nothing(message, schema)) return;
  const NameUse needed = [&](const SchemaField& field, std::string_view name, int depth) {
    if (field.has(kNeeded)) use(field, name, depth);
  };
  each_name_in(message, schema, kGoesAlone, needed, 0);
}

}  // namespace gedit
