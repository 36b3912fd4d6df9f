// The one scanner of gedit's own notation: listings, quoted names in selectors, values on the command line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gedit {

// Whether `text` may stand without quotes: [A-Za-z0-9_.\-/>$]+.
bool is_bare(std::string_view text);

// `text` in double quotes, readable again by Scanner::quoted(): valid UTF-8 as it is, the rest as \" \\ \n \t
// \r \xhh.
void print_quoted(std::string& out, std::string_view text);

// `name` bare where it may be, else quoted.
void print_name(std::string& out, std::string_view name);

// Reads a text from left to right; blanks, `#` comments and line ends after a `\` are passed over before
// every token. Errors are Error (kInput): `FILE: line 17: column 9: MESSAGE`, or `column 9: MESSAGE` without
// a file. Views that are returned point into the text, or into the caller's `store` where escapes had to be
// decoded.
class Scanner {
 public:
  explicit Scanner(std::string_view text, std::string_view file = {});

  // The next character that begins a token; '\n' at the end of a line and of the text.
  char peek();
  bool at_end() const { return position_ == text_.size(); }

  bool accept(char punctuation);                // passes it, if it is next
  void expect(char punctuation);                // passes it, or throws
  bool accept_word(std::string_view expected);  // passes this bare word, if it is next
  bool at_word();                               // a bare word is next

  // `what` names the thing in the error: "a node name".
  std::string_view word(std::string_view what);
  std::string_view name(std::string& store, std::string_view what);  // bare or quoted
  std::string_view quoted(std::string& store, std::string_view what);
  std::string_view number(std::string_view what);  // what a number is made of: a bare word that may hold `+`
  std::string_view device(std::string& store);     // bare up to the next blank, `{` or `#`; or quoted

  // Protobuf text up to (not including) `closing` outside quotes and braces: `}`, `)` or, for the end of the
  // line, '\n'. Same length as what it stands for, so that offsets in it are offsets from `start`.
  std::string text(char closing, size_t& start);

  void end_line();    // nothing but a comment may be left on the line; the next line is next
  void skip_lines();  // passes blank lines and comments, up to a token or the end of the text

  size_t position() const { return position_; }
  void seek(size_t position) { position_ = position; }

  [[noreturn]] void fail(const std::string& message) const { fail_at(position_, message); }
  [[noreturn]] void fail_at(size_t position, const std::string& message) const;
  [[noreturn]] void fail_expected(std::string_view what);  // `expected WHAT, found ...`

  std::string_view file() const { return file_; }
  size_t line_at(size_t position) const;  // counted from 1

 private:
  void skip_blanks();
  size_t line_break(size_t position) const;  // bytes of the line end at `position`, 0 where there is none
  char escape(size_t start);

  std::string_view text_, file_;
  size_t position_ = 0;
};

}  // namespace gedit
