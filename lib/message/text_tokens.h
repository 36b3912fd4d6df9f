// Protobuf text cut into words, numbers, strings and signs, as protobuf's tokenizer does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "message/text_fault.h"

namespace gedit {

enum class TextToken : uint8_t { kEnd, kIdentifier, kInteger, kFloat, kString, kSymbol };

// Stands at the first token. Blanks and `#` comments are passed over. Throws TextFault where there is no
// token.
class TextTokens {
 public:
  explicit TextTokens(std::string_view text) : text_(text) { next(); }

  void next();

  TextToken kind() const { return kind_; }
  std::string_view text() const { return text_.substr(start_, at_ - start_); }  // a string with its quotes
  size_t start() const { return start_; }

  // Appends what the string here stands for.
  void append_string(std::string& out) const;

  [[noreturn]] void fail(size_t offset, std::string message) const;

 private:
  void skip_blank();
  void read_number();
  void read_string();
  void check_escape();
  template <bool (*is)(char)>
  size_t skip(size_t most = std::string_view::npos);  // how many it passed
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  std::string_view text_;
  size_t start_ = 0, at_ = 0;
  TextToken kind_ = TextToken::kEnd;
};

}  // namespace gedit
