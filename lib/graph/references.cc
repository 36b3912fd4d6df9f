#include "graph/references.h"

#include <array>

namespace gedit {
namespace {

struct Row {
  std::string_view key;
  std::string_view op;  // the type's name begins with it; empty: any type
  Role role;
};

// Sorted by key, so that a reader finds a row; order has no meaning.
constexpr std::array kRows{
    Row{"_XlaCluster", "", Role::kPair},
    Row{"_XlaInternalScope", "", Role::kPair},
    Row{"_XlaScope", "", Role::kPair},
    Row{"_class", "", Role::kColocation},
    Row{"_tpu_replicate", "", Role::kPair},
    Row{"batching_queue", "", Role::kSharedName},
    Row{"cluster", "TPUReplicateMetadata", Role::kPair},
    Row{"_replication_info", "", Role::kPair},
    Row{"frame_name", "Enter", Role::kFrame},
    Row{"frame_name", "RefEnter", Role::kFrame},
    Row{"instance_key", "Collective", Role::kInstanceKey},
    Row{"key", "XlaHostCompute", Role::kPair},
    Row{"key", "_XlaRecvAtHost", Role::kPair},
    Row{"key", "_XlaSendFromHost", Role::kPair},
    Row{"key", "XlaSendToHost", Role::kPair},
    Row{"key", "XlaRecvFromHost", Role::kPair},
    Row{"recv_key", "XlaHostCompute", Role::kPair},
    Row{"send_key", "XlaHostCompute", Role::kPair},
    Row{"shared_name", "", Role::kSharedName},
    Row{"stack_name", "Stack", Role::kPair},
    Row{"tensor_name", "_Send", Role::kPair},
    Row{"tensor_name", "_Recv", Role::kPair},
    Row{"tensor_name", "_HostSend", Role::kPair},
    Row{"tensor_name", "_HostRecv", Role::kPair},
    Row{"tensor_name", "Send", Role::kPair},
    Row{"tensor_name", "Recv", Role::kPair},
    Row{"var_name", "TemporaryVariable", Role::kPair},
    Row{"var_name", "DestroyTemporaryVariable", Role::kPair},
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
  for (const Row& row : kRows) {
    if (row.key == key && op.starts_with(row.op)) return row.role;
  }
  return Role::kNone;
}

}  // namespace gedit
