// JSON read from left to right: brackets, keys, strings and words.
//   for (bool more = json.opens('['); more; more = json.goes_on(']')) json.skip_value();
#pragma once

#include <string>
#include <string_view>

#include "message/text_fault.h"

namespace gedit {

// Whether `text` is a number as JSON writes them.
bool is_json_number(std::string_view text);

// Every function passes over blanks first. Throws TextFault.
class JsonTokens {
 public:
  explicit JsonTokens(std::string_view text) : text_(text) {}

  size_t at() const { return at_; }
  void seek(size_t at) { at_ = at; }
  void skip_mark();  // of the byte order, at the start
  char peek();       // the next character; '\0' at the end
  bool at_end() { return peek() == '\0' && at_ == text_.size(); }
  bool takes(char c);  // if it is next
  void expect(char c);
  bool takes_null();  // if it is next
  // What the string that is next stands for, in UTF-8, until the next one is read.
  std::string_view string();
  std::string_view word();     // a number, or true, or false; of characters that none of them has, too
  bool opens(char bracket);    // passes `[` or `{`; whether there is anything in it
  bool goes_on(char closing);  // passes a comma, or the bracket
  void skip_value();           // any, which must be JSON

  [[noreturn]] void fail(size_t offset, std::string message) const;

 private:
  void append_escape();
  void skip(int depth);

  std::string_view text_;
  size_t at_ = 0;
  std::string string_;
};

}  // namespace gedit
