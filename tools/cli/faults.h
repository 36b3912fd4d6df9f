// How a command that looks for faults prints them: -f and -j.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fault.h"
#include "cli/command_line.h"

namespace gedit {

class FaultOptions {
 public:
  void setup(CommandLine& line);

  // To standard output. `file`: what a person would open to find them.
  void print(const std::vector<Fault>& faults, const std::string& file,
             std::function<std::string_view(std::string_view rule)> meaning) const;

 private:
  std::string format_ = "text";
  bool json_ = false;
};

}  // namespace gedit
