#include "edit/changing/insert_outputs.h"

#include "base/error.h"
#include "base/message_edit.h"
#include "edit/basis/tensor_info.h"
#include "model/references.h"

namespace gedit {
namespace {

// Renames the tensor of a TensorInfo, with its name field where it stands.
class InsertedNames final : public NameMap {
 public:
  explicit InsertedNames(const InsertPlace& place) : place_(place) {}
  bool map(NameKind kind, std::string_view name, std::string& out) const override {
    const InsertedBehind* target =
        kind == NameKind::kNode && !name.empty() ? place_.target_of(parse_input(name)) : nullptr;
    if (target == nullptr || name.starts_with('^')) {
      out += name;
    } else {
      out += target->replacement + ":0";
      inserted = target;
    }
    return true;
  }
  mutable const InsertedBehind* inserted = nullptr;  // the last one that was met

 private:
  const InsertPlace& place_;
};

}  // namespace

InsertOutputs::InsertOutputs(const Model& model, const InsertPlace& place) : place_(place) {
  if (place_.graph().is_body()) {
    map_returns();
  } else {
    map_signatures(model);
  }
}

void InsertOutputs::apply(Model& model, Changes& changes) {
  if (returns_) place_.graph().set_parts(function_field::kRet, *returns_);
  if (signatures_) model.meta().set_parts(meta_field::kSignature, *signatures_);
  changes.changed.insert(changes.changed.end(), said_.begin(), said_.end());
}

// Outputs of a function follow.
void InsertOutputs::map_returns() {
  std::vector<std::string> entries;
  bool changed = false;
  for (const Part& part : place_.graph().parts()) {
    if (part.field != function_field::kRet) continue;
    const std::string_view bytes = record_at(part.raw.data()).node_def;
    const MapEntry entry = map_entry(bytes);
    const InsertedBehind* target = place_.target_of(parse_body_input(entry.value));
    if (target == nullptr) {
      entries.emplace_back(bytes);
      continue;
    }
    for (const ArgDef& output : place_.signature().outputs) {
      if (output.name == entry.key && output.type_attr.empty() && output.type_list_attr.empty())
        place_.check_fits(*target, DType{output.type}, "output '" + printable(entry.key) + "' is ");
    }
    entries.push_back(map_entry_bytes(entry.key, target->replacement));
    said_.emplace_back("fn:" + place_.function(),
                       "returns " + target->inserted + " as " + std::string(entry.key));
    changed = true;
  }
  if (changed) returns_ = std::move(entries);
}

// Outputs of signatures follow, inputs stay.
void InsertOutputs::map_signatures(const Model& model) {
  std::vector<std::string> entries;
  bool changed = false;
  for (const std::string_view bytes : model.meta().parts_of(meta_field::kSignature)) {
    const MapEntry entry = map_entry(bytes);
    const size_t said = said_.size();
    const std::string def = mapped_signature(entry);
    const bool here = said != said_.size();
    entries.push_back(here ? map_entry_bytes(entry.key, def) : std::string(bytes));
    changed = changed || here;
  }
  if (changed) signatures_ = std::move(entries);
}

std::string InsertOutputs::mapped_signature(const MapEntry& entry) {
  constexpr uint32_t kOutputs = 2;
  std::string def;
  for (Fields fields(entry.value); fields.next();) {
    const InsertedNames map(place_);
    const std::string mapped =
        fields->bytes(kOutputs) ? map_names(fields->raw, kSignatureDef, map) : std::string();
    if (map.inserted == nullptr) {
      def += fields->raw;
      continue;
    }
    const MapEntry output = map_entry(last_bytes(mapped, kOutputs));
    const std::string label = std::string(entry.key) + ".outputs[" + std::string(output.key) + "]";
    const auto type = static_cast<DType>(last_varint(output.value, tensor_info_field::kType));
    place_.check_fits(*map.inserted, type, "'" + printable(label) + "' is ");
    if (place_.op().keeps_shape()) {
      def += mapped;
    } else {
      append_map_entry(def, kOutputs, output.key,
                       with_field(output.value, tensor_info_field::kShape, shape_proto(std::nullopt)));
    }
    said_.emplace_back(label, "is " + map.inserted->inserted);
  }
  return def;
}

}  // namespace gedit
