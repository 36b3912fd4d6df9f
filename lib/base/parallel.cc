#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/number.h"

namespace gedit {
namespace {

constexpr unsigned kMostThreads = 64;

// Threads that run a function each; they have ended when it goes out of scope.
class Helpers {
 public:
  // As many as are to be had.
  Helpers(size_t count, const std::function<void()>& run) {
    threads_.reserve(count);
    try {
      while (threads_.size() < count) threads_.emplace_back(run);
    } catch (const std::system_error&) {  // fewer do the same work
    }
  }
  ~Helpers() {
    for (std::thread& thread : threads_) thread.join();
  }
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

 private:
  std::vector<std::thread> threads_;
};

// What in_order() shares with its helpers: pieces are taken from the front in order, and used in
// order.
class Ordered {
 public:
  Ordered(size_t count, size_t places, const std::function<void(size_t, size_t)>& make)
      : count_(count), make_(make) {
    for (size_t place = places; place > 0; --place) free_.push_back(place - 1);
  }

  // Makes pieces until there are none, or until nobody waits for them.
  void help() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stop_ || next_ == count_ || !free_.empty(); });
      if (stop_ || next_ == count_) return;
      make_next(lock);
    }
  }

  // Where the next piece in order is; this thread makes pieces itself while it is not there. Throws what its
  // make() threw.
  size_t take() {
    std::unique_lock lock(mutex_);
    while (pieces_.empty() || !pieces_.front().done) {
      if (next_ < count_ && !free_.empty()) {
        make_next(lock);
      } else {
        changed_.wait(lock);
      }
    }
    const Piece piece = pieces_.front();
    if (piece.error) std::rethrow_exception(piece.error);
    pieces_.pop_front();
    return piece.place;
  }

  void give_back(size_t place) {
    const std::lock_guard lock(mutex_);
    free_.push_back(place);
    changed_.notify_all();
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }

 private:
  struct Piece {
    size_t place;
    std::exception_ptr error{};
    bool done = false;
  };

  void make_next(std::unique_lock<std::mutex>& lock) {
    Piece& piece = pieces_.emplace_back(Piece{free_.back()});  // stays where it is while others come and go
    const size_t index = next_++;
    free_.pop_back();
    lock.unlock();
    std::exception_ptr error;
    try {
      make_(index, piece.place);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    piece.error = error;
    piece.done = true;
    if (error) count_ = next_;  // what comes behind is not wanted
    changed_.notify_all();
  }

  size_t count_;
  const std::function<void(size_t, size_t)>& make_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Piece> pieces_;  // taken and not yet used
  std::vector<size_t> free_;  // places
  size_t next_ = 0;
  bool stop_ = false;
};

}  // namespace

unsigned thread_count() {
  static const unsigned count = [] {
    const char* text = std::getenv("GEDIT_THREADS");
    unsigned number = text == nullptr ? 0 : read_number<unsigned>(text).value_or(0);
    if (number == 0) number = std::thread::hardware_concurrency();
    return std::clamp(number, 1U, kMostThreads);
  }();
  return count;
}

void in_parallel(size_t count, const std::function<void(size_t)>& work) {
  const size_t threads = std::min<size_t>(thread_count(), count);
  if (threads <= 1) {
    for (size_t i = 0; i < count; ++i) work(i);
    return;
  }
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  std::atomic<size_t> failed{count};
  const auto run = [&] {
    while (true) {
      const size_t i = next++;
      if (i >= failed) return;  // `count` where nothing failed; all before what failed were taken already
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < failed) {
          failed = i;
          error = std::current_exception();
        }
      }
    }
  };
  {
    const Helpers helpers(threads - 1, run);
    run();
  }
  if (error) std::rethrow_exception(error);
}

void in_pieces(size_t count, const std::function<void(size_t, PieceRange)>& work, size_t piece) {
  in_parallel(pieces_of(count, piece),
              [&](size_t number) { work(number, piece_range(number, count, piece)); });
}

void take_pages(void* memory, size_t bytes) {
  constexpr size_t kPage = 4096, kStep = size_t{2} << 20, kWorthIt = size_t{2} << 20;  // bytes
  if (bytes < kWorthIt || thread_count() == 1) return;
  const auto touch = [&](size_t, PieceRange range) {
    volatile char* const begin = static_cast<char*>(memory);
    for (size_t page = range.begin; page < range.end; ++page) begin[page * kPage] = 0;
  };
  in_pieces(bytes / kPage, touch, kStep / kPage);
}

size_t places_for(size_t count) {
  const size_t threads = std::min<size_t>(thread_count(), count);
  return threads > 1 ? 2 * threads : 1;
}

void in_order(size_t count, const std::function<void(size_t, size_t)>& make,
              const std::function<void(size_t)>& use) {
  const size_t places = places_for(count);
  if (places == 1) {
    for (size_t i = 0; i < count; ++i) {
      make(i, 0);
      use(0);
    }
    return;
  }
  Ordered ordered(count, places, make);
  const Helpers helpers(places / 2 - 1, [&] { ordered.help(); });
  try {
    for (size_t i = 0; i < count; ++i) {
      const size_t place = ordered.take();
      use(place);
      ordered.give_back(place);
    }
  } catch (...) {
    ordered.stop();
    throw;
  }
}

void pieces_in_order(size_t count, const std::function<void(size_t, std::string&)>& make,
                     const std::function<void(std::string_view)>& use) {
  Places<std::string> texts(places_for(count));
  in_order(
      count,
      [&](size_t i, size_t place) {
        texts[place].clear();
        make(i, texts[place]);
      },
      [&](size_t place) { use(texts[place]); });
}

}  // namespace gedit
