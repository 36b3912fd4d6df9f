// Constants by what they hold: dtype, shape and the bits of every element, however the TensorProto writes
// them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fold/const_tensor.h"
#include "graph/arena.h"
#include "prove/prove.h"

namespace gedit {

using ContentId = uint32_t;

class Contents {
 public:
  // Of a TensorProto, which outlives this. One that TensorFlow would refuse is only equal to its own bytes.
  // Costs a checksum over its elements where they are many; equal ones are compared once, in full.
  ContentId of_tensor(std::string_view tensor_proto);
  // Of a variable's value. With `by_checksum` two of them are equal by dtype, shape and the checksums that
  // are stored; with a tensor they are always compared by their bytes.
  ContentId of_stored(const KnownValue& value, bool by_checksum);

  // Of a bool without dimensions; what has some is true for If where it is not empty.
  std::optional<bool> truth(ContentId id) const;
  // Of an int32 without dimensions.
  std::optional<int32_t> int32_scalar(ContentId id) const;
  // All of it; nothing for what has no elements that are known, or of which nothing is folded.
  std::optional<folding::ConstTensor> tensor(ContentId id) const;
  // As its TensorProto or the checkpoint says.
  DType dtype(ContentId id) const { return contents_[id].dtype; }
  const std::vector<int64_t>& shape(ContentId id) const { return contents_[id].shape; }
  // `float32[2,3]`, with the value of one element.
  std::string text(ContentId id) const;

 private:
  struct Content {
    DType dtype = DType::kInvalid;
    std::vector<int64_t> shape;
    // The elements up to the one that all others repeat, little-endian; strings with their lengths.
    std::string_view elements;
    uint64_t size = 0;                      // bytes of all elements; 0 for strings
    bool raw = false;                       // `elements` is a TensorProto that is none
    std::optional<KnownValue> stored{};     // in its place, not read yet
    std::optional<uint32_t> full_crc32c{};  // of all elements
  };

  bool equal(const Content& a, const Content& b) const;
  uint32_t full_crc32c(Content& content) const;
  ContentId find(std::string_view tensor_proto);
  ContentId add(const std::string& key, Content content);
  Content taken_apart(std::string_view tensor_proto);
  bool typed_elements(std::string_view tensor_proto, Content& content, uint64_t count);
  static std::string key_of(const Content& content);  // equal ones have equal keys; of one that is read
  void load(Content& content, std::optional<ContentId> id);
  bool holds(const Content& stored, const Content& tensor);

  Arena arena_;
  std::vector<Content> contents_;
  std::unordered_map<std::string, std::vector<ContentId>> by_key_;   // of tensors
  std::unordered_map<std::string, std::vector<ContentId>> of_type_;  // all, by dtype and shape
  bool any_stored_ = false;
  // Many constants of a graph are written alike, a few of which come again and again: of these, by a hash of
  // the bytes, the one that came last.
  struct Recent {
    std::string_view tensor_proto;
    ContentId id = 0;
  };
  std::array<Recent, 1024> recent_;
};

}  // namespace gedit
