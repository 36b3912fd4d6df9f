// In place of the standard library's allocator: large blocks lie in huge pages, where the system has them.
// Tables of a million nodes are tens of megabytes each, filled once; in pages of 4 KiB the system's part in
// that is as long as the filling. Smaller blocks are malloc's own.
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define GEDIT_HAS_ITS_OWN_ALLOCATOR
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define GEDIT_HAS_ITS_OWN_ALLOCATOR
#endif

#if defined(MADV_HUGEPAGE) && !defined(GEDIT_HAS_ITS_OWN_ALLOCATOR)

namespace {

constexpr std::size_t kHugePage = 2 << 20, kLarge = 2 << 20;  // bytes

// Null where there is no memory.
void* take(std::size_t size) {
  if (size < kLarge) return std::malloc(size == 0 ? 1 : size);
  void* memory = nullptr;
  if (::posix_memalign(&memory, kHugePage, size) != 0) return nullptr;
  // Without the last part of a page, so that no more is in use than was asked for. That it is refused is no
  // harm.
  static_cast<void>(::madvise(memory, size / kHugePage * kHugePage, MADV_HUGEPAGE));
  return memory;
}

}  // namespace

void* operator new(std::size_t size) {
  for (;;) {
    if (void* const memory = take(size)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

#endif
