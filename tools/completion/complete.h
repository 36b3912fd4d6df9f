// The answer to a shell that completes.
#pragma once

#include <string>
#include <vector>

namespace gedit {

// `words`: what follows `gedit __complete`: CWORD -- WORDS, the last of them up to the cursor. One candidate
// a line, as Candidates::text() has them; nothing where anything is wrong.
std::string complete(const std::vector<std::string>& words);

}  // namespace gedit
