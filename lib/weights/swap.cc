#include "weights/swap.h"

#include <utility>

#include "base/error.h"
#include "checkpoint/list.h"

namespace gedit {
namespace {

constexpr std::string_view kObjectValue = "/.ATTRIBUTES/VARIABLE_VALUE";

// The key of the tensor that stands in for `name`: behind an object's path, as behind a name.
std::string stand_in(const std::string& name, std::string_view suffix) {
  if (!name.ends_with(kObjectValue)) return name + std::string(suffix);
  std::string key = name.substr(0, name.size() - kObjectValue.size());
  key += suffix;
  key += kObjectValue;
  return key;
}

}  // namespace

void swap_values(Checkpoint& checkpoint, std::string_view suffix, bool both, KeyChanges* changes) {
  if (suffix.empty()) throw misused(suffix, "is no suffix");
  size_t hits = 0;
  for (size_t i = 0; i < checkpoint.tensors.size(); ++i) {
    Tensor& tensor = checkpoint.tensors[i];
    const std::string key = stand_in(tensor.name, suffix);
    const Tensor* found = checkpoint.find(key);
    if (found == nullptr) continue;
    Tensor& other = checkpoint.tensors[static_cast<size_t>(found - checkpoint.tensors.data())];
    if (tensor.dtype != other.dtype || tensor.shape != other.shape) {
      throw refused(dtype_name(tensor.dtype) + " " + shape_text(tensor.shape) + ", its stand-in is " +
                    dtype_name(other.dtype) + " " + shape_text(other.shape))
          .of(tensor_subject(tensor.name))
          .in(checkpoint.prefix);
    }
    ++hits;
    if (changes != nullptr) changes->push_back({key, tensor.name});
    if (both) {
      std::swap(tensor.place, other.place);
      std::swap(tensor.slices, other.slices);
      std::swap(tensor.record, other.record);
    } else {
      tensor.place = other.place;
      tensor.slices = other.slices;
      tensor.record = other.record;
    }
  }
  if (hits == 0)
    throw refused("no tensor has a stand-in of this suffix")
        .of(quoted("suffix", suffix))
        .in(checkpoint.prefix);
}

}  // namespace gedit
