#include "cli/help.h"

#include <algorithm>

#include "cli/called.h"
#include "cli/text.h"

namespace gedit {
namespace {

constexpr size_t kWidth = 100;
constexpr size_t kColumn = 32;  // where it is told what an option is

// Words of `text` in lines of at most kWidth, each behind `indent` blanks. Lines that begin with a blank stay
// as they are.
std::string wrapped(std::string_view text, size_t indent) {
  const std::string margin(indent, ' ');
  std::string out;
  for (std::string_view row : lines_of(text)) {
    if (row.empty() || row[0] == ' ') {
      out += row.empty() ? "\n" : margin + std::string(row) + "\n";
      continue;
    }
    std::string line = margin;
    while (!row.empty()) {
      const std::string_view word = row.substr(0, row.find(' '));
      row.remove_prefix(std::min(row.size(), word.size() + 1));
      if (line.size() > indent && line.size() + 1 + word.size() > kWidth) {
        out += line + "\n";
        line = margin;
      }
      if (line.size() > indent) line += ' ';
      line += word;
    }
    out += line + "\n";
  }
  return out;
}

// A line of a list of commands or verbs.
std::string help_row(const CommandInfo& info) {
  return "  " + padded(last_word(info), 11) + " " + info.summary + "\n";
}

}  // namespace

std::vector<CommandLine::Entry> entries_of(const CommandInfo& info) {
  if (info.make == nullptr) return {};
  const std::unique_ptr<Command> command = info.make();
  CommandLine line(program_name(info));
  command->setup(line);
  return line.entries();
}

std::string overview() {
  std::string text = paragraphs(R"(
gedit edits serialized TensorFlow graphs without TensorFlow: nodes, variables, savers, signatures and
checkpoints together.

Usage: gedit COMMAND [OPTIONS] FILE.. [-o OUT]
)") + "\n";
  std::string_view group;
  for (const CommandInfo* info : top_commands()) {
    if (info->group != group) text += "\n" + std::string(info->group) + "\n";
    group = info->group;
    text += help_row(*info);
  }
  text += "\ngedit COMMAND --help tells about a command, gedit --version which gedit this is.\n";
  return as_called(text);
}

std::string help_text(const CommandInfo& info) {
  const std::string program = program_name(info);
  std::string text = program + " - " + info.summary + "\n\nUsage: " + program + " " + info.synopsis + "\n\n";
  text += wrapped(info.text, 0);
  if (const auto verbs = verbs_of(info); !verbs.empty()) {
    text += "\nVerbs\n";
    for (const CommandInfo* verb : verbs) text += help_row(*verb);
    text += "\n" + program + " VERB --help tells about a verb.\n";
  }
  if (info.make != nullptr) text += "\nOptions\n";
  for (const CommandLine::Entry& entry : entries_of(info)) {
    const std::string left = "  " + entry.text;
    const std::string right = wrapped(entry.about, kColumn);
    if (left.size() + 2 > kColumn) {
      text += left + "\n" + right;
    } else {
      text += left + right.substr(left.size());
    }
  }
  text += "\nExamples\n";
  for (const std::string_view example : lines_of(info.examples)) text += "  " + std::string(example) + "\n";
  return as_called(text);
}

}  // namespace gedit
