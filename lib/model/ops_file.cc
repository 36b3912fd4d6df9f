#include "model/ops_file.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include "base/error.h"
#include "base/wire.h"
#include "graph.pb.h"
#include "ops/registry.h"

namespace gedit {
namespace {

class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text.empty()) return;
    text = "line " + std::to_string(line + 1) + ": column " + std::to_string(column + 1) + ": " +
           printable(message);
  }
  std::string text;
};

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
  tensorflow::OpList ops;
  google::protobuf::TextFormat::Parser parser;
  FirstError error;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(std::string(file.bytes()), &ops) || ops.op().empty()) {
    throw Error(Cause::kInput,
                "neither a binary nor a text OpList" + (error.text.empty() ? "" : " (" + error.text + ")"))
        .in(file.path());
  }
  return arena.keep(ops.SerializeAsString());
}

}  // namespace gedit
