#include "model/captured_tensors.h"

#include "base/message_edit.h"
#include "base/wire.h"
#include "model/saved_objects.h"

namespace gedit {
namespace {

constexpr uint32_t kNodes = 1;                  // SavedObjectGraph
constexpr uint32_t kTensor = 1, kFunction = 2;  // CapturedTensor

}  // namespace

CapturedTensors captured_tensors(std::string_view object_graph) {
  CapturedTensors found;
  for (Fields objects(object_graph); objects.next();) {
    if (!objects->bytes(kNodes)) continue;
    for (Fields object(objects->value); object.next();) {
      if (!object->bytes(static_cast<uint32_t>(ObjectKind::kCapturedTensor))) continue;
      found[std::string(last_bytes(object->value, kFunction))].emplace(last_bytes(object->value, kTensor));
    }
  }
  return found;
}

std::string with_captured_tensors(std::string_view object_graph, const MapCaptured& map) {
  return with_each_field(object_graph, kNodes, [&](std::string_view object) {
    return with_each_field(
        object, static_cast<uint32_t>(ObjectKind::kCapturedTensor), [&](std::string_view captured) {
          const std::string_view function = last_bytes(captured, kFunction);
          return with_each_field(captured, kTensor,
                                 [&](std::string_view tensor) { return map(function, tensor); });
        });
  });
}

}  // namespace gedit
