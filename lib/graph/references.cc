#include "graph/references.h"

#include <array>

namespace gedit {
namespace {

struct AttrRow {
  std::string_view key;
  std::string_view op;  // the type's name begins with it; empty: any type
  Role role;
};

// Sorted by key, so that a reader finds a row; order has no meaning.
constexpr std::array kAttrRows{
    AttrRow{"_XlaCluster", "", Role::kPair},
    AttrRow{"_XlaInternalScope", "", Role::kPair},
    AttrRow{"_XlaScope", "", Role::kPair},
    AttrRow{"_class", "", Role::kColocation},
    AttrRow{"_tpu_replicate", "", Role::kPair},
    AttrRow{"batching_queue", "", Role::kSharedName},
    AttrRow{"cluster", "TPUReplicateMetadata", Role::kPair},
    AttrRow{"_replication_info", "", Role::kPair},
    AttrRow{"frame_name", "Enter", Role::kFrame},
    AttrRow{"frame_name", "RefEnter", Role::kFrame},
    AttrRow{"instance_key", "Collective", Role::kInstanceKey},
    AttrRow{"key", "XlaHostCompute", Role::kPair},
    AttrRow{"key", "_XlaRecvAtHost", Role::kPair},
    AttrRow{"key", "_XlaSendFromHost", Role::kPair},
    AttrRow{"key", "XlaSendToHost", Role::kPair},
    AttrRow{"key", "XlaRecvFromHost", Role::kPair},
    AttrRow{"recv_key", "XlaHostCompute", Role::kPair},
    AttrRow{"send_key", "XlaHostCompute", Role::kPair},
    AttrRow{"shared_name", "", Role::kSharedName},
    AttrRow{"stack_name", "Stack", Role::kPair},
    AttrRow{"tensor_name", "_Send", Role::kPair},
    AttrRow{"tensor_name", "_Recv", Role::kPair},
    AttrRow{"tensor_name", "_HostSend", Role::kPair},
    AttrRow{"tensor_name", "_HostRecv", Role::kPair},
    AttrRow{"tensor_name", "Send", Role::kPair},
    AttrRow{"tensor_name", "Recv", Role::kPair},
    AttrRow{"var_name", "TemporaryVariable", Role::kPair},
    AttrRow{"var_name", "DestroyTemporaryVariable", Role::kPair},
};

}  // namespace

Role attr_role(std::string_view op, std::string_view key) {
  // Almost every attribute of almost every node is none of these, and this is asked for each: a look at one
  // letter answers most.
  if (key.size() < 3) return Role::kNone;
  switch (key[0]) {
    case '_':
    case 'b':
    case 'c':
    case 'f':
    case 'i':
    case 'k':
    case 'r':
    case 's':
    case 't':
    case 'v':
      break;
    default:
      return Role::kNone;
  }
  for (const AttrRow& row : kAttrRows) {
    if (row.key == key && op.starts_with(row.op)) return row.role;
  }
  return Role::kNone;
}

}  // namespace gedit
