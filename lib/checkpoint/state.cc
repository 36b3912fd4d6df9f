#include "checkpoint/state.h"

#include <cstring>

#include "base/error.h"
#include "base/wire.h"
#include "message/text.h"

namespace gedit {
namespace {

constexpr size_t kLongest = size_t{16} << 20;

void add_doubles(std::string_view bytes, std::vector<double>& all) {
  for (; bytes.size() >= sizeof(double); bytes.remove_prefix(sizeof(double))) {
    double number = 0;
    std::memcpy(&number, bytes.data(), sizeof(double));
    all.push_back(number);
  }
}

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
  std::string bytes;
  if (const auto fault = parse_message_text(text, message_type("tensorflow.CheckpointState"), bytes))
    throw Error(Cause::kInput, "not a checkpoint state file: " + fault->with_place(text)).in(path);
  CheckpointState state;
  std::vector<double> preserved;
  for (Fields fields(bytes); fields.next();) {
    if (fields->bytes(1)) state.latest = fields->value;
    if (fields->bytes(2)) state.all.emplace_back(fields->value);
    if (fields->bytes(3)) add_doubles(fields->value, state.times);
    if (fields->number == 4 && fields->wire == Wire::kFixed64) add_doubles(fields->value, preserved);
  }
  if (!preserved.empty()) state.preserved = preserved.back();
  if (state.latest.empty()) {
    throw Error(Cause::kInput, "names no checkpoint (model_checkpoint_path is empty)").in(path);
  }
  return state;
}

}  // namespace gedit
