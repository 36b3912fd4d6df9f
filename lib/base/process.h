// Another program, run with bytes as its standard input.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gedit {

struct Finished {
  int status = 0;  // exit status; 128 + the number of the signal that ended it
  std::string out, err;
};

// Runs `arguments[0]`, found along PATH, until it ends; `input` is what it reads, as far as it reads it.
// Throws Error (kRefused) where there is no such program or it cannot be started, where it writes more than
// `most_output` bytes, and where it runs longer than `most_seconds`, unless that is 0.
Finished run_program(const std::vector<std::string>& arguments, std::string_view input, int most_seconds = 0,
                     size_t most_output = size_t{1} << 30);

}  // namespace gedit
