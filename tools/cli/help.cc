#include "cli/help.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "cli/command_line.h"

namespace gedit {
namespace {

constexpr size_t kWidth = 100;

// Words of `text` in lines of at most kWidth, each behind `indent` blanks. Lines that begin with a blank stay
// as they are.
std::string wrapped(std::string_view text, size_t indent) {
  std::string out, line(indent, ' ');
  const auto flush = [&] {
    if (line.find_first_not_of(' ') != std::string::npos) out += line + "\n";
    line.assign(indent, ' ');
  };
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view row = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (row.empty() || row[0] == ' ') {
      flush();
      out += row.empty() ? "\n" : std::string(indent, ' ') + std::string(row) + "\n";
      continue;
    }
    while (!row.empty()) {
      const size_t blank = row.find(' ');
      const std::string_view word = row.substr(0, blank);
      row = blank == std::string_view::npos ? std::string_view() : row.substr(blank + 1);
      if (word.empty()) continue;
      if (line.size() > indent && line.size() + 1 + word.size() > kWidth) flush();
      if (line.size() > indent) line += ' ';
      line += word;
    }
  }
  flush();
  return out;
}

std::string roff(std::string_view text) {
  std::string out;
  bool start = true;
  for (const char c : text) {
    if (start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    start = c == '\n';
  }
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

// Paragraphs of plain text in man's language; rows that begin with a blank stay as they are.
std::string man_text(std::string_view text) {
  std::string out;
  bool verbatim = false;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view row = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    const bool plain = !row.empty() && row[0] == ' ';
    if (plain != verbatim && !row.empty()) {
      out += plain ? ".nf\n" : ".fi\n";
      verbatim = plain;
    }
    out += row.empty() ? ".PP\n" : roff(row) + "\n";
  }
  if (verbatim) out += ".fi\n";
  return out;
}

std::string man_head(std::string_view name) {
  return fmt::format(".TH \"{}\" 1 \"\" \"gedit {}\" \"gedit\"\n", upper(name), GEDIT_VERSION);
}

constexpr std::string_view kExitStatus =
    "0 done; 1 the answer is no (differs, faults found, nothing selected); 2 usage; 3 an input cannot be "
    "read or is not "
    "valid; 4 the edit was refused (no such name, collision, dangling input, would overwrite, over 2 GiB); 5 "
    "cannot write.";

std::vector<CommandLine::Entry> entries_of(const CommandInfo& info) {
  const std::unique_ptr<Command> command = info.make();
  CommandLine line(program_name(info));
  command->setup(line);
  return line.entries();
}

}  // namespace

std::string overview() {
  std::string text =
      "gedit edits serialized TensorFlow graphs without TensorFlow: nodes, variables, savers, signatures and "
      "checkpoints "
      "together.\n\nUsage: gedit COMMAND [OPTIONS] FILE.. [-o OUT]\n";
  std::string_view group;
  for (const CommandInfo& info : commands()) {
    if (info.group != group) text += fmt::format("\n{}\n", info.group);
    group = info.group;
    text += fmt::format("  {:<11} {}\n", info.name, info.summary);
  }
  text += "\ngedit COMMAND --help tells about a command, gedit --version which gedit this is.\n";
  return text;
}

std::string help_text(const CommandInfo& info) {
  std::string text = fmt::format("gedit {} - {}\n\nUsage: gedit {} {}\n\n", info.name, info.summary,
                                 info.name, info.synopsis);
  text += wrapped(info.text, 0);
  text += "\nOptions\n";
  constexpr size_t kColumn = 32;
  for (const auto& [option, about] : entries_of(info)) {
    const std::string left = "  " + option;
    const std::string right = wrapped(about, kColumn);
    if (left.size() + 2 > kColumn) {
      text += left + "\n" + right;
    } else {
      text += left + right.substr(left.size());
    }
  }
  text += "\nExamples\n";
  std::string_view examples = info.examples;
  while (!examples.empty()) {
    const size_t end = examples.find('\n');
    text += "  " + std::string(examples.substr(0, end)) + "\n";
    examples = end == std::string_view::npos ? std::string_view() : examples.substr(end + 1);
  }
  return text;
}

std::string man_page(const CommandInfo& info) {
  std::string text = man_head("gedit-" + std::string(info.name));
  text += fmt::format(".SH NAME\ngedit\\-{} \\- {}\n", info.name, roff(info.summary));
  text += fmt::format(".SH SYNOPSIS\n.B gedit {}\n{}\n", info.name, roff(info.synopsis));
  text += ".SH DESCRIPTION\n" + man_text(info.text);
  text += ".SH OPTIONS\n";
  for (const auto& [option, about] : entries_of(info))
    text += fmt::format(".TP\n.B {}\n{}\n", roff(option), roff(about));
  text += ".SH EXAMPLES\n.nf\n" + roff(info.examples) + "\n.fi\n";
  text += fmt::format(".SH EXIT STATUS\n{}\n.SH SEE ALSO\n.BR gedit (1)\n", roff(kExitStatus));
  return text;
}

std::string main_man_page() {
  std::string text = man_head("gedit");
  text +=
      ".SH NAME\ngedit \\- edit serialized TensorFlow graphs\n.SH SYNOPSIS\n.B gedit\nCOMMAND [OPTIONS] "
      "FILE.. [\\-o OUT]\n";
  text +=
      ".SH DESCRIPTION\ngedit edits GraphDef, MetaGraphDef, SavedModel and checkpoint files without "
      "TensorFlow: nodes, variables,\n"
      "savers, signatures and checkpoints together. What is not edited keeps its bytes. No failed command "
      "leaves a file.\n";
  std::string_view group;
  for (const CommandInfo& info : commands()) {
    if (info.group != group) text += fmt::format(".SS {}\n", roff(info.group));
    group = info.group;
    text += fmt::format(".TP\n.BR gedit\\-{} (1)\n{}\n", info.name, roff(info.summary));
  }
  text += fmt::format(".SH EXIT STATUS\n{}\n", roff(kExitStatus));
  return text;
}

}  // namespace gedit
