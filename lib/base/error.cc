#include "base/error.h"

#include <algorithm>

#include "base/utf8.h"

namespace gedit {
namespace {

// Without what would end the line, or is no text.
std::string escaped(std::string_view text) {
  if (std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; })) return std::string(text);
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text.substr(i));
    const auto byte = static_cast<unsigned char>(text[i]);
    if (length == 0 || byte < 0x20 || byte == 0x7f) {
      out += {'\\', static_cast<char>('0' + (byte >> 6)), static_cast<char>('0' + ((byte >> 3) & 7)),
              static_cast<char>('0' + (byte & 7))};
      ++i;
    } else {
      out += text.substr(i, length);
      i += length;
    }
  }
  return out;
}

}  // namespace

Error::Error(Cause cause, std::string message)
    : std::runtime_error(message), cause_(cause), message_(std::move(message)) {
  compose();
}

Error Error::in(std::string_view file) const {
  Error copy = *this;
  if (copy.file_.empty()) copy.file_ = file;
  copy.compose();
  return copy;
}

Error Error::of(std::string_view subject) const {
  Error copy = *this;
  if (copy.subject_.empty()) copy.subject_ = subject;
  copy.compose();
  return copy;
}

Error Error::hint(std::string_view way_out) const {
  Error copy = *this;
  if (!way_out.empty()) copy.hint_ = way_out;
  copy.compose();
  return copy;
}

void Error::compose() {
  line_.clear();
  if (!file_.empty()) line_ += printable(file_ == "-" ? "(standard input)" : file_) + ": ";
  if (!subject_.empty()) line_ += subject_ + ": ";
  line_ += escaped(message_);
  if (!hint_.empty()) line_ += "; hint: " + escaped(hint_);
}

Error refused(std::string message) { return {Cause::kRefused, std::move(message)}; }

Error misused(std::string_view written, std::string message) {
  return Error(Cause::kUsage, std::move(message)).of("'" + printable(written) + "'");
}

std::string printable(std::string_view text) {
  constexpr size_t kLongest = 200;
  if (text.size() <= kLongest) return escaped(text);
  return escaped(text.substr(0, kLongest / 2)) + "..." + escaped(text.substr(text.size() - kLongest / 4));
}

std::string quoted(std::string_view kind, std::string_view name) {
  std::string out(kind);
  out += " '";
  out += printable(name);
  out += "'";
  return out;
}

}  // namespace gedit
