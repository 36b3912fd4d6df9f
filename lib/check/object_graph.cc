// The object graph of a TensorFlow 2 SavedModel: ids and names in it (python/saved_model/load.py).
#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "check/surroundings.h"

namespace gedit {
namespace {

// saved_object_graph.proto, as far as objects refer to anything.
namespace object_field {
constexpr uint32_t kChildField = 1, kSlotField = 3, kAsset = 5, kFunction = 6, kBareFunction = 8,
                   kConstant = 9, kSaveable = 11, kCaptured = 12, kDependency = 15;
}

class ObjectGraphCheck {
 public:
  ObjectGraphCheck(const CheckedGraph& in, const MetaGraph& meta, const Functions& functions, Report& report)
      : in_(in), functions_(functions), report_(report), bytes_(meta.part(meta_field::kObjectGraph)) {
    assets_ = meta.parts_of(meta_field::kAsset).size();
  }

  void run() {
    for (Fields fields(bytes_); fields.next();) {
      if (fields->bytes(1)) ++objects_;
      if (fields->bytes(2)) concrete_.insert(map_entry(fields->value).key);
    }
    if (objects_ == 0) return;
    uint64_t number = 0;
    for (Fields fields(bytes_); fields.next();) {
      if (fields->bytes(1)) object(number++, fields->value);
      if (fields->bytes(2)) concrete_function(map_entry(fields->value));
    }
  }

 private:
  void wrong(const std::string& what) { report_.add(Rule::kObjectGraph, subject_, what); }

  void reference(uint64_t id, const std::string& what) {
    if (id >= objects_)
      wrong(what + " is object " + std::to_string(static_cast<int64_t>(id)) + " of " +
            std::to_string(objects_));
  }

  void concrete_name(std::string_view name) {
    if (!concrete_.contains(name))
      wrong("names " + quoted("concrete function", name) + ", which is not there");
  }

  void object(uint64_t number, std::string_view bytes) {
    subject_ = "object " + std::to_string(number);
    for (Fields fields(bytes); fields.next();) {
      if (fields->wire != Wire::kBytes) continue;
      const std::string_view part = fields->value;
      switch (fields->number) {
        case object_field::kChildField:
        case object_field::kDependency:
          reference(last_varint(part, 1), quoted("child", last_bytes(part, 2)));
          break;
        case object_field::kSlotField:
          reference(last_varint(part, 1), "the variable of " + quoted("slot", last_bytes(part, 2)));
          reference(last_varint(part, 3), quoted("slot", last_bytes(part, 2)));
          break;
        case object_field::kAsset:
          if (last_varint(part, 1) >= assets_) {
            wrong("is asset " + std::to_string(static_cast<int64_t>(last_varint(part, 1))) + " of " +
                  std::to_string(assets_));
          }
          break;
        case object_field::kFunction:
          for (Fields names(part); names.next();) {
            if (names->bytes(1)) concrete_name(names->value);
          }
          break;
        case object_field::kBareFunction:
          concrete_name(last_bytes(part, 1));
          break;
        case object_field::kConstant:
          if (in_.names.find(last_bytes(part, 1)) == kNoNode)
            wrong("names " + quoted("node", last_bytes(part, 1)) + ", which is not there");
          break;
        case object_field::kSaveable: {
          const MapEntry entry = map_entry(part);
          reference(last_varint(entry.value, 2), "the save function of " + quoted("saveable", entry.key));
          reference(last_varint(entry.value, 3), "the restore function of " + quoted("saveable", entry.key));
          break;
        }
        case object_field::kCaptured:
          if (const std::string_view name = last_bytes(part, 2); !functions_.contains(name))
            wrong("names " + quoted("function", name) + ", which is not there");
          break;
        default:
          break;
      }
    }
  }

  void concrete_function(const MapEntry& entry) {
    subject_ = std::string(entry.key);
    const auto function = functions_.find(entry.key);
    if (function == functions_.end()) return wrong("no such function in the library");
    uint64_t bound = 0;
    for (Fields fields(entry.value); fields.next();) {
      if (fields->number != 2) continue;
      each_varint(fields.field(), [&](uint64_t id) {
        reference(id, "bound input " + std::to_string(bound));
        ++bound;
      });
    }
    if (function->second.counted && bound > function->second.inputs.size()) {
      wrong(std::to_string(bound) + " bound inputs, the function takes " +
            std::to_string(function->second.inputs.size()));
    }
  }

  const CheckedGraph& in_;
  const Functions& functions_;
  Report& report_;
  std::string_view bytes_;
  size_t assets_ = 0;
  uint64_t objects_ = 0;
  std::unordered_set<std::string_view> concrete_;
  std::string subject_;
};

}  // namespace

void check_object_graph(const CheckedGraph& in, const MetaGraph& meta, const Functions& functions,
                        Report& report) {
  ObjectGraphCheck(in, meta, functions, report).run();
}

}  // namespace gedit
