// The table of places in a NodeDef that hold a name, and what kind of name
// (docs/tensorflow.md#attributes-that-hold-names): whoever renames, copies, merges or checks asks here, none
// keeps a list of its own.
//
// Inputs, `_class` and functions follow the node or function that they name. The others identify something at
// run time and must be fresh in a copy that is to stand beside its original.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/wire.h"

namespace gedit {

enum class Role : uint8_t {
  kNone,        // no name, or one that stays: PyFunc's token, tensor_array_name, summary tags
  kColocation,  // `_class`: a list of `loc:@node`
  kFrame,  // frame_name of Enter, RefEnter: one string for all Enters of a loop (common_runtime/executor.cc)
  kSharedName,  // shared_name, batching_queue: families of one string share one resource
  kPair,  // a string that two or more nodes agree on: var_name, stack_name, rendezvous and cluster names
  kInstanceKey,   // instance_key of Collective*: an int
  kGradientType,  // _gradient_op_type: a gradient of Python's, which stays, or one that the library registers
};

// A resource with this shared_name is made anew at every execution (core/framework/resource_handle.h,
// ANONYMOUS_NAME).
constexpr std::string_view kAnonymousName = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

// An attribute that holds a name, in nodes of some ops or of all.
struct AttrRow {
  std::string_view key;
  std::string_view op;  // what the op begins with; empty: any op
  Role role;
};

// The table. Order has no meaning.
inline constexpr std::array kAttrRows{
    AttrRow{"_XlaCluster", "", Role::kPair},
    AttrRow{"_XlaInternalScope", "", Role::kPair},
    AttrRow{"_XlaScope", "", Role::kPair},
    AttrRow{"_class", "", Role::kColocation},
    AttrRow{"_gradient_op_type", "", Role::kGradientType},
    AttrRow{"_replication_info", "", Role::kPair},
    AttrRow{"_tpu_replicate", "", Role::kPair},
    AttrRow{"batching_queue", "", Role::kSharedName},
    AttrRow{"cluster", "TPUReplicateMetadata", Role::kPair},
    AttrRow{"frame_name", "Enter", Role::kFrame},
    AttrRow{"frame_name", "RefEnter", Role::kFrame},
    AttrRow{"instance_key", "Collective", Role::kInstanceKey},
    AttrRow{"key", "XlaHostCompute", Role::kPair},
    AttrRow{"key", "XlaRecvFromHost", Role::kPair},
    AttrRow{"key", "XlaSendToHost", Role::kPair},
    AttrRow{"key", "_XlaRecvAtHost", Role::kPair},
    AttrRow{"key", "_XlaSendFromHost", Role::kPair},
    AttrRow{"recv_key", "XlaHostCompute", Role::kPair},
    AttrRow{"send_key", "XlaHostCompute", Role::kPair},
    AttrRow{"shared_name", "", Role::kSharedName},
    AttrRow{"stack_name", "Stack", Role::kPair},
    AttrRow{"tensor_name", "Recv", Role::kPair},
    AttrRow{"tensor_name", "Send", Role::kPair},
    AttrRow{"tensor_name", "_HostRecv", Role::kPair},
    AttrRow{"tensor_name", "_HostSend", Role::kPair},
    AttrRow{"tensor_name", "_Recv", Role::kPair},
    AttrRow{"tensor_name", "_Send", Role::kPair},
    AttrRow{"var_name", "DestroyTemporaryVariable", Role::kPair},
    AttrRow{"var_name", "TemporaryVariable", Role::kPair},
};

// The role of attribute `key` of a node of type `op`. Asked of every attribute of a million nodes: hardly one
// that the table does not have costs more than a look into an index of it.
Role attr_role(std::string_view op, std::string_view key);

// Deepest nesting of attribute values that is followed; TensorFlow's own reader stops at 100 as well.
constexpr int kDeepest = 100;

// ---------------------------------------------------------------------------------------------------------------------

// The rows by what is quickly known of their keys.
class AttrRowIndex {
 public:
  static constexpr size_t slot(std::string_view key) {
    const auto first = static_cast<unsigned char>(key.front()), last = static_cast<unsigned char>(key.back());
    return (key.size() + size_t{7} * first + size_t{3} * last) % kSlots;
  }

  constexpr AttrRowIndex() {
    for (const AttrRow& row : kAttrRows) ++begins_[slot(row.key) + 1];
    for (size_t i = 0; i < kSlots; ++i) begins_[i + 1] = static_cast<uint8_t>(begins_[i] + begins_[i + 1]);
    std::array<uint8_t, kSlots> filled{};
    for (size_t row = 0; row < kAttrRows.size(); ++row) {
      const size_t i = slot(kAttrRows[row].key);
      rows_[begins_[i] + filled[i]++] = static_cast<uint8_t>(row);
    }
  }

  constexpr std::span<const uint8_t> rows(std::string_view key) const {
    const size_t i = slot(key);
    return {rows_.data() + begins_[i], rows_.data() + begins_[i + 1]};
  }

 private:
  static constexpr size_t kSlots = 256;
  std::array<uint8_t, kSlots + 1> begins_{};
  std::array<uint8_t, kAttrRows.size()> rows_{};
};
inline constexpr AttrRowIndex kAttrRowIndex;

inline Role attr_role(std::string_view op, std::string_view key) {
  if (key.empty()) return Role::kNone;
  for (const uint8_t i : kAttrRowIndex.rows(key)) {
    const AttrRow& row = kAttrRows[i];
    if (row.key == key && op.starts_with(row.op)) return row.role;
  }
  return Role::kNone;
}

}  // namespace gedit
