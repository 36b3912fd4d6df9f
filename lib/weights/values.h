// The elements of a tensor wherever they lie, read in pieces by several threads: row-major, little-endian.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/checksum.h"
#include "base/file.h"
#include "checkpoint/slice_key.h"
#include "graph/dtype.h"

namespace gedit {

// Bytes of them: of its own, or a view of a mapped file whose pages are given back.
class Piece {
 public:
  Piece() = default;
  explicit Piece(std::string_view lasting) : bytes_(lasting) {}
  Piece(std::unique_ptr<char[]> owned, size_t size) : bytes_(owned.get(), size), owned_(std::move(owned)) {}
  Piece(std::shared_ptr<const InputFile> file, std::string_view mapped);
  ~Piece();
  Piece(Piece&&) noexcept = default;
  Piece& operator=(Piece&&) = delete;

  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
  std::unique_ptr<char[]> owned_;
  std::shared_ptr<const InputFile> file_;
};

// What the file says of its bytes: `value` is the checksum of what `before` is the checksum of, and of them
// all.
struct Expected {
  ChecksumKind kind = ChecksumKind::kCrc32c;
  uint32_t before = 0;
  uint32_t value = 0;
};

// The checksum of what `sum` is the checksum of, and of `bytes`; `sum` where nothing is expected.
inline uint32_t checksum_read(const std::optional<Expected>& expected, std::string_view bytes, uint32_t sum) {
  return expected ? checksum_of(expected->kind, bytes, sum) : sum;
}

class Values {
 public:
  // What stays in the second cache until it is written.
  static constexpr uint64_t kGrain = uint64_t{128} << 10;

  Values() = default;
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  virtual ~Values() = default;

  virtual uint64_t size() const = 0;  // bytes

  // Bytes that are cheap to ask for at once, from multiples of it on; a multiple of every element's width.
  virtual uint64_t grain() const { return kGrain; }

  // From any thread. Throws Error (kInput) where the file cannot be read.
  virtual Piece read(uint64_t offset, uint64_t size) const = 0;

  virtual std::optional<Expected> expected() const { return std::nullopt; }

  // Those with something expected that this one is made of, which nobody checks who reads this one.
  virtual void made_of(std::vector<const Values*>& /*leaves*/) const {}

  // After all of it was read, in steps of grain(): throws Error (kInput) where that showed a wrong checksum.
  virtual void check_read() const {}
};
using ValuesPtr = std::shared_ptr<const Values>;

// So many bytes, in whole steps of `grain`, one thread takes at once.
uint64_t stretch_of(uint64_t grain);

// Calls use(at, piece) for all the bytes from `offset` on, in steps of grain().
template <typename Use>
void each_piece(const Values& values, uint64_t offset, uint64_t size, Use use) {
  const uint64_t grain = values.grain();
  for (uint64_t at = offset; at < offset + size; at += grain)
    use(at, values.read(at, std::min(grain, offset + size - at)));
}

// A stretch of a file. Throws Error (kInput) where it is longer than the file.
ValuesPtr file_values(std::shared_ptr<const InputFile> file, uint64_t offset, uint64_t size,
                      std::optional<Expected> expected = std::nullopt);
// The same, the file opened for each piece and closed again: there may be more files than a process may open.
ValuesPtr path_values(std::string path, uint64_t offset, uint64_t size,
                      std::optional<Expected> expected = std::nullopt);
// Bytes in memory, which `keeps` keeps there.
ValuesPtr memory_values(std::string_view bytes, std::shared_ptr<const void> keeps,
                        std::optional<Expected> expected = std::nullopt);
ValuesPtr owned_values(std::string bytes);
// Made as a whole each time that they are read, and read as a whole.
ValuesPtr made_values(uint64_t size, std::function<std::string()> make);

// Numbers turned round, from big-endian files.
ValuesPtr swapped_values(ValuesPtr values, DType dtype);

// A part of a whole tensor of that shape, elements of `width` bytes; extents as settle_extents() gives them.
ValuesPtr part_values(ValuesPtr whole, const std::vector<int64_t>& shape, const Extents& extents,
                      size_t width);

// A whole tensor of its parts, of which none covers another (slices_fit()); the rest is 0.
struct ValuePart {
  Extents extents;
  ValuesPtr values;
};
ValuesPtr joined_values(std::vector<ValuePart> parts, const std::vector<int64_t>& shape, size_t width);

// Dimension i of the result is dimension order[i] of `shape`, as numpy.transpose has it.
ValuesPtr transposed_values(ValuesPtr values, std::vector<int64_t> shape, std::vector<size_t> order,
                            size_t width);

}  // namespace gedit
