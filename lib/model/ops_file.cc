#include "model/ops_file.h"

#include "base/error.h"
#include "base/wire.h"
#include "message/text.h"
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
  std::string bytes;
  const auto fault = parse_message_text(file.bytes(), message_type("tensorflow.OpList"), bytes);
  if (!is_op_list(bytes)) {
    const std::string why = fault           ? " (" + fault->with_place(file.bytes()) + ")"
                            : bytes.empty() ? ""
                                            : " (an op without a name)";
    throw Error(Cause::kInput, "neither a binary nor a text OpList" + why).in(file.path());
  }
  return arena.keep(std::move(bytes));
}

}  // namespace gedit
