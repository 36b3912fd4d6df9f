// Two records of nodes compared as they are written: their inputs, and attributes as far as a value depends
// on them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace gedit {

// A node that is fields_ascend(), with its inputs as they stand there.
struct InputTexts {
  std::vector<std::string_view> inputs;
  std::string_view attrs;
  size_t data = 0;            // inputs
  size_t begin = 0, end = 0;  // where all of them stand

  // False where a control input stands before another one.
  bool read(std::string_view node_def);

  // The same for a node that many may read, and that is gone over for each of them: false where it is long.
  bool read_short(std::string_view node_def);

  // The same for a node that is as `other`, of which `texts` tell, but for its inputs: false for any other.
  // Mostly only these were changed.
  bool read_alike(std::string_view node_def, std::string_view other, const InputTexts& texts);

 private:
  bool add(std::string_view input);
};

// Of a node that is fields_ascend(); empty where they are long.
std::string_view attrs_of(std::string_view node_def);

// Attributes, of which those that change no value do not count.
bool alike_attributes(std::string_view a, std::string_view b);

}  // namespace gedit
