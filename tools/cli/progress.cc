#include "cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "draw/describe.h"

namespace gedit {
namespace {

constexpr auto kStep = std::chrono::seconds(1);
constexpr size_t kRoom = 12;  // of a line, for the seconds

void write_to_terminal(std::string_view text) {
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));  // nothing depends on it
}

// As many columns as the terminal has: a line that wraps cannot be taken back.
size_t columns() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace

class Progress::Line {
 public:
  explicit Line(const std::string& what) {
    const size_t room = columns();
    text_ = "gedit: " + printable(what);
    text_ = shortened(text_, room > 2 * kRoom ? room - kRoom : kRoom);
    thread_ = std::thread([this] { run(); });
  }
  ~Line() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

 private:
  void run() {
    std::unique_lock lock(mutex_);
    const auto begin = std::chrono::steady_clock::now();
    for (int seconds = 1; !changed_.wait_until(lock, begin + seconds * kStep, [&] { return done_; });
         ++seconds) {
      write_to_terminal("\r" + text_ + ", " + std::to_string(seconds) + " s");
      shown_ = true;
    }
    if (shown_) write_to_terminal("\r\033[K");
  }

  std::string text_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false, shown_ = false;
  std::thread thread_;
};

Progress::Progress(const std::string& what, bool quiet) {
  if (quiet || ::isatty(STDERR_FILENO) == 0) return;
  try {
    line_ = std::make_unique<Line>(what);
  } catch (const std::system_error&) {  // no thread is to be had
  }
}

Progress::~Progress() = default;

}  // namespace gedit
