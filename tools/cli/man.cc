#include <algorithm>
#include <cctype>

#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/text.h"

namespace gedit {
namespace {

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

// Paragraphs of plain text in man's language; rows that begin with a blank stay as they are.
std::string roff_paragraphs(std::string_view text) {
  std::string out;
  bool verbatim = false;
  for (const std::string_view row : lines_of(text)) {
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

std::string man_head(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return ".TH \"" + name + "\" 1 \"\" \"gedit " GEDIT_VERSION "\" \"gedit\"\n";
}

std::string exit_status() {
  return ".SH EXIT STATUS\n" + roff(one_line(R"(
0 done; 1 the answer is no (differs, faults found, nothing selected); 2 usage; 3 an input cannot be read or is
not valid; 4 the edit was refused (no such name, collision, dangling input, would overwrite, over 2 GiB); 5
cannot write.)")) +
         "\n";
}

std::string environment() {
  return ".SH ENVIRONMENT\n" + roff(one_line(R"(
GEDIT_THREADS: how many threads share the work; without it one for each core. What is written does not depend
on it. TMPDIR: where a pipe's input is kept while it is worked on. NO_COLOR: nothing is colored.)")) +
         "\n";
}

// `gedit-checkpoint-rename`.
std::string page_name(const CommandInfo& info) {
  std::string name = program_name(info);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

// The page of a command or verb in a list of them.
std::string man_row(const CommandInfo& info) {
  return ".TP\n.BR " + roff(page_name(info)) + " (1)\n" + roff(info.summary) + "\n";
}

}  // namespace

std::string man_page(const CommandInfo& info) {
  std::string text = man_head(page_name(info));
  text += ".SH NAME\n" + roff(page_name(info)) + " \\- " + roff(info.summary) + "\n";
  text += ".SH SYNOPSIS\n.B " + program_name(info) + "\n" + roff(info.synopsis) + "\n";
  text += ".SH DESCRIPTION\n" + roff_paragraphs(info.text);
  if (const auto verbs = verbs_of(info); !verbs.empty()) {
    text += ".SH VERBS\n";
    for (const CommandInfo* verb : verbs) text += man_row(*verb);
  }
  if (info.make != nullptr) text += ".SH OPTIONS\n";
  for (const CommandLine::Entry& entry : entries_of(info))
    text += ".TP\n.B " + roff(entry.text) + "\n" + roff(entry.about) + "\n";
  text += ".SH EXAMPLES\n.nf\n" + roff(info.examples) + "\n.fi\n";
  text += exit_status() + ".SH SEE ALSO\n.BR gedit (1)\n";
  const std::string_view command = info.name.substr(0, info.name.find(' '));
  if (command != info.name) text += ".BR " + roff(page_name(*find_command(command))) + " (1)\n";
  return text;
}

std::string main_man_page() {
  std::string text = man_head("gedit");
  text += R"(.SH NAME
gedit \- edit serialized TensorFlow graphs
.SH SYNOPSIS
.B gedit
COMMAND [OPTIONS] FILE.. [\-o OUT]
.SH DESCRIPTION
gedit edits GraphDef, MetaGraphDef, SavedModel and checkpoint files without TensorFlow: nodes, variables,
savers, signatures and checkpoints together. What is not edited keeps its bytes. No failed command leaves a file.
)";
  std::string_view group;
  for (const CommandInfo* info : top_commands()) {
    if (info->group != group) text += ".SS " + roff(info->group) + "\n";
    group = info->group;
    text += man_row(*info);
  }
  return text + exit_status() + environment();
}

}  // namespace gedit
