// What is wrong with a file, found by a command that looks for it: one line each, for people and for
// programs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace gedit {

enum class Level : uint8_t { kError, kWarning };

struct Fault {
  std::string rule;     // `checksum`, `dtype`, ...
  std::string subject;  // the tensor, the node, ...
  std::string message;
  Level level = Level::kError;
};

enum class FaultForm : uint8_t {
  kText,    // `error RULE SUBJECT: MESSAGE`, a line a fault
  kJson,    // [{"level","rule","subject","message"}]
  kGithub,  // workflow commands of GitHub Actions: `::error file=FILE,title=RULE::SUBJECT: MESSAGE`
  kSarif,   // SARIF 2.1.0, as code scanning takes it
};

// What stands around the faults in the forms that name it.
struct FaultReport {
  FaultForm form = FaultForm::kText;
  std::string file;     // in which they are
  std::string version;  // of gedit
  // What breaks a rule, one clause; empty where nothing is said of it.
  std::function<std::string_view(std::string_view rule)> meaning = {};
};

void print_faults(const std::vector<Fault>& faults, const FaultReport& report, Sink& out);

size_t count_errors(const std::vector<Fault>& faults);

}  // namespace gedit
