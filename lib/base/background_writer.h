// Writes buffers and pieces of other files to a file, in order, in a thread of its own: encoding, reading and
// checksums then cost no time where there is a second processor.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "base/descriptor.h"

namespace gedit {

class BackgroundWriter {
 public:
  explicit BackgroundWriter(int descriptor) : descriptor_(descriptor), thread_([this] { run(); }) {}
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  // Takes the first `size` bytes of a buffer and gives another one for it. What went wrong earlier.
  WriteFailure put(std::vector<char>& buffer, size_t size);

  // Writes what was fetched, and forgets it later.
  WriteFailure put(const Mapped& mapped) { return put(Job{mapped, {}, 0}); }

  // Waits until everything is written.
  WriteFailure drain();

 private:
  struct Job {
    Mapped mapped;  // without a source: from the buffer
    std::vector<char> buffer;
    size_t size = 0;
  };

  WriteFailure put(Job job);

  void run();

  const int descriptor_;
  std::deque<Job> jobs_;  // the first one is being written
  std::vector<Mapped> written_;
  std::vector<std::vector<char>> buffers_;  // to be used again
  WriteFailure failure_;
  bool stop_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace gedit
