// A line on a terminal that says what takes so long.
#pragma once

#include <memory>
#include <string>

namespace gedit {

// While it lives, and from a second after it was made, standard error says `gedit: WHAT, 3 s`; the line is
// gone when it goes out of scope. Nothing is said where standard error is no terminal, nor where `quiet`.
// What lies in its scope prints nothing itself.
class Progress {
 public:
  explicit Progress(const std::string& what, bool quiet = false);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  class Line;
  std::unique_ptr<Line> line_;  // none where nothing is said
};

}  // namespace gedit
