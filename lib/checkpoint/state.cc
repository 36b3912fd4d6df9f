#include "checkpoint/state.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include "base/error.h"
#include "checkpoint.pb.h"

namespace gedit {
namespace {

constexpr size_t kLongest = size_t{16} << 20;

// Keeps the first complaint of the parser, which by itself would print it.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& message) override {
    if (text.empty()) {
      text = "line " + std::to_string(line + 1) + ": column " + std::to_string(column + 1) + ": " + message;
    }
  }
  std::string text;
};

}  // namespace

bool looks_like_state(std::string_view bytes) {
  std::string_view head = bytes.substr(0, 4096);
  for (;;) {  // comments and blanks before the first word
    const size_t word = head.find_first_not_of(" \t\r\n");
    if (word == std::string_view::npos) return false;
    head.remove_prefix(word);
    if (head[0] != '#') break;
    const size_t line = head.find('\n');
    if (line == std::string_view::npos) return false;
    head.remove_prefix(line);
  }
  return head.starts_with("model_checkpoint_path") || head.starts_with("all_model_checkpoint_");
}

CheckpointState parse_state(std::string_view text, const std::string& path) {
  if (text.size() > kLongest) throw Error(Cause::kInput, "too long for a checkpoint state file").in(path);
  tensorflow::CheckpointState message;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(std::string(text), &message)) {
    throw Error(Cause::kInput, "not a checkpoint state file: " + error.text).in(path);
  }
  if (message.model_checkpoint_path().empty()) {
    throw Error(Cause::kInput, "names no checkpoint (model_checkpoint_path is empty)").in(path);
  }
  return {.latest = message.model_checkpoint_path(),
          .all = {message.all_model_checkpoint_paths().begin(), message.all_model_checkpoint_paths().end()}};
}

}  // namespace gedit
