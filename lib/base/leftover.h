// What a signal must not leave behind: files and folders that are not at their place yet.
#pragma once

#include <cstddef>
#include <string>

namespace gedit {

// From now on SIGINT, SIGTERM and SIGHUP take away what Leftover names, and then end the process as they do
// without. Signals that are ignored stay ignored.
void remove_leftovers_on_signals();

// Takes away all that Leftover names; for a signal handler that ends the process.
void remove_leftovers() noexcept;

// Whether a HeldSignals lives: what is thrown now is undone, and nothing else may end the process.
bool signals_held() noexcept;

// A file or folder that goes where a signal ends the process while this lives. (Past 64 at once: it stays.)
class Leftover {
 public:
  Leftover() = default;  // of nothing yet
  ~Leftover();
  Leftover(const Leftover&) = delete;
  Leftover& operator=(const Leftover&) = delete;

  void note(const std::string& path);  // once

 private:
  size_t slot_ = static_cast<size_t>(-1);
};

// While one lives, signals wait: for the steps between which a file has two names.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
};

}  // namespace gedit
