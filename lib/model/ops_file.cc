#include "model/ops_file.h"

#include <google/protobuf/message.h>

#include "base/error.h"
#include "base/messages.h"
#include "base/wire.h"
#include "ops/registry.h"

namespace gedit {
namespace {

// Every op has a name; nothing else that is protobuf looks so.
bool is_op_list(std::string_view bytes) {
  try {
    for (Fields fields(bytes); fields.next();) {
      if (!fields->bytes(1) || parse_op_def(fields->value).name.empty()) return false;
    }
    return !bytes.empty();
  } catch (const Malformed&) {
    return false;
  }
}

}  // namespace

std::string_view read_op_list(const InputFile& file, Arena& arena) {
  if (is_op_list(file.bytes())) return file.bytes();
  const auto ops = new_message(message_type("tensorflow.OpList"));
  TextFault fault;
  std::string bytes;
  if (parse_message_text(file.bytes(), *ops, fault)) append_serialized(bytes, *ops);
  if (bytes.empty()) {
    throw Error(Cause::kInput, "neither a binary nor a text OpList" +
                                   (fault.message.empty() ? "" : " (" + fault.with_place() + ")"))
        .in(file.path());
  }
  return arena.keep(std::move(bytes));
}

}  // namespace gedit
