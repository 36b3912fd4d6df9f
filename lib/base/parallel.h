// Work shared by all cores, with the same result whatever their number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace gedit {

// How many threads share work: GEDIT_THREADS where it is a number from 1 on, else the number of cores; 64 at
// most.
unsigned thread_count();

// Calls work(i) once for each i below `count`, on all cores. Where some throw, those before them were still
// called, and what the first in order threw is thrown.
void in_parallel(size_t count, const std::function<void(size_t)>& work);

// Calls make(i, place) for each i below `count` on all cores, and use(place) in this thread, in order; until
// then nothing else is made in that place, of which there are places_for(count). What make() or use() throws
// is thrown in order: all before it was used.
void in_order(size_t count, const std::function<void(size_t, size_t)>& make,
              const std::function<void(size_t)>& use);
size_t places_for(size_t count);

// What is made in them. No two share a line of the cache: it would go to and fro between the cores with every
// write.
template <typename Made>
class Places {
 public:
  explicit Places(size_t places) : slots_(places) {}
  Places(size_t places, const Made& empty) : slots_(places, Slot{empty}) {}
  Made& operator[](size_t place) { return slots_[place].made; }

 private:
  struct alignas(64) Slot {
    Made made;
  };
  std::vector<Slot> slots_;
};

// The same for texts: make() gets an empty one to be filled.
void pieces_in_order(size_t count, const std::function<void(size_t, std::string&)>& make,
                     const std::function<void(std::string_view)>& use);

// So many things a piece of work should have that costs 100 ns a thing: less is lost in handing it over.
constexpr size_t kPerPiece = 4096;

constexpr size_t pieces_of(size_t count, size_t piece = kPerPiece) { return (count + piece - 1) / piece; }

// Which of the `count` things piece `number` is about: [begin, end).
struct PieceRange {
  uint32_t begin, end;
};
constexpr PieceRange piece_range(size_t number, size_t count, size_t piece = kPerPiece) {
  return {static_cast<uint32_t>(number * piece),
          static_cast<uint32_t>(std::min(count, (number + 1) * piece))};
}

// Calls work(number, range) for all pieces of `count` things, as in_parallel() does.
void in_pieces(size_t count, const std::function<void(size_t, PieceRange)>& work, size_t piece = kPerPiece);

// What make(range) gives for each piece, in order. It fills what is its own and hands it over once, for the
// reason that Places have.
template <typename Make>
auto made_in_pieces(size_t count, const Make& make, size_t piece = kPerPiece) {
  std::vector<std::invoke_result_t<Make, PieceRange>> made(pieces_of(count, piece));
  in_pieces(
      count, [&](size_t number, PieceRange range) { made[number] = make(range); }, piece);
  return made;
}

// Touches fresh memory on all cores, so that the system has cleared it when one thread fills it: that takes
// longer than the filling.
void take_pages(void* memory, size_t bytes);

// Room for `count` in all, for one thread to fill.
template <typename T>
void make_room(std::vector<T>& all, size_t count) {
  if (count <= all.capacity()) return;
  all.reserve(count);
  take_pages(static_cast<void*>(all.data() + all.size()), (count - all.size()) * sizeof(T));
}

// The same where each piece gives a list: one behind the other.
template <typename Find>
auto found_in_pieces(size_t count, const Find& find, size_t piece = kPerPiece) {
  auto pieces = made_in_pieces(count, find, piece);
  std::invoke_result_t<Find, PieceRange> all;
  for (auto& some : pieces)
    all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
  return all;
}

}  // namespace gedit
