#include "completion/line.h"

#include <algorithm>

#include "cli/help.h"
#include "completion/values.h"

namespace gedit {
namespace {

const CommandLine::Entry* option_called(const std::vector<CommandLine::Entry>& entries,
                                        const std::string& name) {
  for (const CommandLine::Entry& entry : entries) {
    if (std::find(entry.names.begin(), entry.names.end(), name) != entry.names.end()) return &entry;
  }
  return nullptr;
}

// Operand `number`, counted from 0; the last one where it takes all that follow.
const CommandLine::Entry* operand(const std::vector<CommandLine::Entry>& entries, size_t number) {
  const CommandLine::Entry* last = nullptr;
  for (const CommandLine::Entry& entry : entries) {
    if (!entry.names.empty()) continue;
    last = &entry;
    if (number-- == 0) return last;
  }
  return last != nullptr && last->list ? last : nullptr;
}

bool looks_like_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

// Takes in the words before the cursor one after the other.
class Reader {
 public:
  explicit Reader(UnfinishedLine& line) : line_(line) {}

  void read(const std::string& word) {
    if (!only_operands_ && word == "--") {
      only_operands_ = true;
      value_of_ = nullptr;
    } else if (!only_operands_ && looks_like_option(word)) {
      const size_t equals = word.find('=');
      const CommandLine::Entry* option = option_called(line_.entries, word.substr(0, equals));
      value_of_ = option != nullptr && option->value && equals == std::string::npos ? option : nullptr;
    } else if (value_of_ != nullptr) {
      if (!value_of_->list) value_of_ = nullptr;
    } else {
      const CommandLine::Entry* taken = operand(line_.entries, operands_++);
      if (taken != nullptr && names_file(taken->type)) line_.files.push_back(file_on_line(word, taken->type));
    }
  }

  void end(const std::string& word) {
    line_.word = word;
    const bool value = value_of_ != nullptr && !value_of_->list;
    if (only_operands_ || value || !word.starts_with('-')) {
      line_.takes = value_of_ != nullptr ? value_of_ : operand(line_.entries, operands_);
      return;
    }
    const size_t equals = word.find('=');
    line_.in_option = equals == std::string::npos;
    if (line_.in_option) return;
    line_.takes = option_called(line_.entries, word.substr(0, equals));
    line_.before = word.substr(0, equals + 1);
    line_.word = word.substr(equals + 1);
  }

 private:
  UnfinishedLine& line_;
  const CommandLine::Entry* value_of_ = nullptr;
  bool only_operands_ = false;
  size_t operands_ = 0;
};

}  // namespace

FileOnLine file_on_line(const std::string& word, const std::string& type) {
  const bool may_be_named = type.starts_with("[NAME=]") || type.starts_with("[A=|B=]");
  const size_t equals = may_be_named ? word.find('=') : std::string::npos;
  if (equals == std::string::npos) return {"", word};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

UnfinishedLine read_unfinished(const std::vector<std::string>& words, size_t at) {
  UnfinishedLine line;
  if (at == 0 || at >= words.size()) return line;
  line.word = words[at];
  if (at == 1) return line;
  size_t begin = 3;
  if (at > 2) line.command = find_command(words[1] + " " + words[2]);
  if (line.command == nullptr) {
    begin = 2;
    line.command = find_command(words[1]);
  }
  if (line.command == nullptr) return line;
  line.in_verb = begin == 2 && at == 2;
  line.entries = entries_of(*line.command);
  Reader reader(line);
  for (size_t i = begin; i < at; ++i) reader.read(words[i]);
  reader.end(words[at]);
  return line;
}

}  // namespace gedit
