// A signal handler sees global variables alone, and may call little: no memory is taken here, nothing locks.
#include "base/leftover.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace gedit {
namespace {

constexpr size_t kSlots = 64;
constexpr int kDeepestFolder = 32;  // of folders that are made here; a model's are three deep

// What the handler has to know. NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
std::array<std::atomic<char*>, kSlots> g_leftovers{};
std::atomic<int> g_held = 0, g_waiting = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<char*>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

// As the kernel gives it: no readdir(), which takes memory.
struct DirectoryEntry {
  uint64_t inode;
  int64_t next;
  uint16_t size;
  uint8_t type;
  char name[1];
};

void remove_entry(int folder, const char* name, int depth) {
  if (::unlinkat(folder, name, 0) == 0 || depth > kDeepestFolder) return;
  const int inside = ::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inside < 0) return;
  alignas(DirectoryEntry) std::array<char, 4096> buffer;
  for (;;) {
    const long got = ::syscall(SYS_getdents64, inside, buffer.data(), buffer.size());
    if (got <= 0) break;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer.data() + at);
      if (std::strcmp(entry->name, ".") != 0 && std::strcmp(entry->name, "..") != 0)
        remove_entry(inside, entry->name, depth + 1);
      at += entry->size;
    }
  }
  ::close(inside);
  ::unlinkat(folder, name, AT_REMOVEDIR);
}

void end_by(int signal) {
  remove_leftovers();
  std::signal(signal, SIG_DFL);
  ::kill(::getpid(), signal);
}

void on_signal(int signal) {
  if (g_held > 0) {
    g_waiting = signal;
    return;
  }
  end_by(signal);
}

}  // namespace

void remove_leftovers_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
}

void remove_leftovers() noexcept {
  for (std::atomic<char*>& slot : g_leftovers) {
    if (const char* path = slot; path != nullptr) remove_entry(AT_FDCWD, path, 0);
  }
}

void Leftover::note(const std::string& path) {
  char* text = ::strdup(path.c_str());
  for (slot_ = 0; slot_ < kSlots; ++slot_) {
    char* none = nullptr;
    if (g_leftovers[slot_].compare_exchange_strong(none, text)) return;
  }
  std::free(text);
}

Leftover::~Leftover() {
  if (slot_ < kSlots) std::free(g_leftovers[slot_].exchange(nullptr));
}

bool signals_held() noexcept { return g_held > 0; }

HeldSignals::HeldSignals() { ++g_held; }

HeldSignals::~HeldSignals() {
  if (--g_held > 0) return;
  if (const int signal = g_waiting.exchange(0); signal != 0) end_by(signal);
}

}  // namespace gedit
