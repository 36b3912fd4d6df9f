// In place of the allocator of a gedit under test (tests/exhaustion.py): GEDIT_FAILING_ALLOCATION=N makes the
// Nth one fail, from 1 on, and 0 none; at its end the program says how many there were, as the last line of
// standard error.
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

std::atomic<unsigned long> taken{0};

unsigned long failing() {
  static const unsigned long number = [] {
    const char* text = std::getenv("GEDIT_FAILING_ALLOCATION");
    return text == nullptr ? 0UL : std::strtoul(text, nullptr, 10);
  }();
  return number;
}

// As the standard library's does.
[[noreturn]] void fail() {
  if (const std::new_handler handler = std::get_new_handler()) handler();
  throw std::bad_alloc();
}

void* take(std::size_t size, std::size_t alignment) {
  if (++taken == failing()) fail();
  const std::size_t whole = size == 0 ? 1 : size;
  void* memory = alignment <= alignof(std::max_align_t)
                     ? std::malloc(whole)
                     : std::aligned_alloc(alignment, (whole + alignment - 1) / alignment * alignment);
  if (memory == nullptr) fail();
  return memory;
}

// Of a run that nothing failed in, which is one that is told how many there are.
struct Teller {
  ~Teller() {
    if (failing() == 0) std::fprintf(stderr, "%lu\n", taken.load());
  }
} const teller;

}  // namespace

void* operator new(std::size_t size) { return take(size, 0); }
void* operator new[](std::size_t size) { return take(size, 0); }
void* operator new(std::size_t size, std::align_val_t to) { return take(size, static_cast<std::size_t>(to)); }
void* operator new[](std::size_t size, std::align_val_t to) {
  return take(size, static_cast<std::size_t>(to));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*to*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t /*to*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*to*/) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t /*size*/, std::align_val_t /*to*/) noexcept {
  std::free(memory);
}
