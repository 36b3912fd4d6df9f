// An unfinished command line: what the cursor is in, and which files stand before it.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"
#include "commands.h"

namespace gedit {

// A file that the line names; NAME=FILE where the command takes that.
struct FileOnLine {
  std::string name, path;
};

struct UnfinishedLine {
  const CommandInfo* command = nullptr;       // null: the cursor is in the command itself
  bool in_verb = false;                       // it may be in a verb of `command`
  bool in_option = false;                     // it is in the name of an option
  std::vector<CommandLine::Entry> entries;    // what the command takes
  const CommandLine::Entry* takes = nullptr;  // what the word at the cursor is a value of, one of `entries`
  std::string before;                         // of `--option=value` what stands before the value
  std::string word;                           // the word up to the cursor, without `before`
  std::vector<FileOnLine> files;              // operands that are files
};

// `words[at]` is the word at the cursor, words[0] the program.
UnfinishedLine read_unfinished(const std::vector<std::string>& words, size_t at);

// NAME=FILE, where NAME may be one.
FileOnLine file_on_line(const std::string& word, const std::string& type);

}  // namespace gedit
