// The one exception that leaves the library: a refusal in one line, its parts kept apart.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace gedit {

// Why something cannot be done; the numbers are the program's exit statuses.
enum class Cause {
  kUsage = 2,    // the request itself makes no sense
  kInput = 3,    // an input cannot be read or is not valid
  kRefused = 4,  // the edit would do harm: no such name, collision, dangling input
  kWrite = 5,    // the output cannot be written
};

// what() is `[FILE: ][SUBJECT: ]MESSAGE[; hint: HINT]`: one line, lower case, no full stop, the thing before
// the complaint. Names that hold line breaks or control characters are escaped, so that it stays one line.
//   throw Error(Cause::kRefused, "no such node").in(file).of(node_subject(name)).hint("did you mean 'x'?");
class Error : public std::runtime_error {
 public:
  Error(Cause cause, std::string message);

  Error in(std::string_view file) const;       // names the file, unless one is named already
  Error of(std::string_view subject) const;    // names the thing, unless one is named already
  Error hint(std::string_view way_out) const;  // an empty hint changes nothing

  Cause cause() const { return cause_; }
  const std::string& file() const { return file_; }
  const std::string& subject() const { return subject_; }
  const std::string& message() const { return message_; }
  const char* what() const noexcept override { return line_.c_str(); }

 private:
  void compose();

  Cause cause_;
  std::string file_, subject_, message_, hint_, line_;
};

// What an edit throws where it would do harm, and where `written`, a word of the user's, makes no sense:
// kRefused, kUsage.
Error refused(std::string message);
Error misused(std::string_view written, std::string message);

// `text` with control characters and broken UTF-8 as \ooo, shortened in the middle past 200 bytes.
std::string printable(std::string_view text);

// `KIND 'NAME'`, the form in which messages name things: node 'logits', tensor 'x:1', selector 'conv/'.
std::string quoted(std::string_view kind, std::string_view name);

}  // namespace gedit
