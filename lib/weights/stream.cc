#include "weights/stream.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/parallel.h"
#include "weights/cast_values.h"

namespace gedit {
namespace {

struct Stretch {
  size_t item;  // behind the items come the leaves
  uint64_t offset, size;
  uint32_t read = 0, written = 0;  // checksums
  uint64_t overflows = 0;
};

// Consecutive stretches that one thread takes at once: one, or small ones.
struct Batch {
  size_t begin, end;
};

// All values that are read, cut into pieces: those asked for, and those of which they are made where their
// checksums are known.
class ReadPieces {
 public:
  explicit ReadPieces(std::vector<const Values*> values)
      : values_(std::move(values)), asked_(values_.size()) {
    for (size_t i = 0; i < asked_; ++i) {
      cut(i);
      std::vector<const Values*> leaves;
      if (values_[i] != nullptr) values_[i]->made_of(leaves);
      for (const Values* leaf : leaves) {
        if (!leaf->expected()) continue;
        owners_.push_back(i);
        values_.push_back(leaf);
      }
    }
    for (size_t i = asked_; i < values_.size(); ++i) cut(i);
  }

  size_t count() const { return values_.size(); }
  bool asked(size_t i) const { return i < asked_; }
  size_t owner(size_t i) const { return asked(i) ? i : owners_[i - asked_]; }
  const Values& values(size_t i) const { return *values_[i]; }

  // Calls compare(i, expected, checksum) for each that has something expected, and join(i, stretches) for
  // all.
  template <typename Use>
  void each_whole(Use use) {
    for (size_t begin = 0; begin < stretches.size();) {
      size_t end = begin;
      while (end < stretches.size() && stretches[end].item == stretches[begin].item) ++end;
      use(stretches[begin].item, begin, end);
      begin = end;
    }
  }

  // That of all that was read of one.
  void compare(size_t item, size_t begin, size_t end) const {
    const std::optional<Expected> expected = values(item).expected();
    if (!expected) return;
    uint32_t sum = expected->before;
    for (size_t i = begin; i < end; ++i)
      sum = join_checksums(expected->kind, sum, stretches[i].read, stretches[i].size);
    if (sum != expected->value) throw Error(Cause::kInput, "checksum differs");
  }

  std::vector<Stretch> stretches;

 private:
  void cut(size_t i) {
    if (values_[i] == nullptr) return;
    const uint64_t size = values_[i]->size(), step = stretch_of(values_[i]->grain());
    if (size == 0) stretches.push_back({i, 0, 0});
    for (uint64_t at = 0; at < size; at += step) stretches.push_back({i, at, std::min(step, size - at)});
  }

  std::vector<const Values*> values_;
  size_t asked_;
  std::vector<size_t> owners_;  // of those behind
};

std::vector<const Values*> plain(const std::vector<ValuesPtr>& values) {
  std::vector<const Values*> out;
  out.reserve(values.size());
  for (const ValuesPtr& one : values) out.push_back(one.get());
  return out;
}

std::vector<Batch> batches(const std::vector<Stretch>& stretches,
                           const std::function<bool(size_t, size_t)>& together) {
  std::vector<Batch> out;
  uint64_t size = 0;
  for (size_t i = 0; i < stretches.size(); ++i) {
    if (i == 0 || size + stretches[i].size > Values::kGrain || !together(i - 1, i)) {
      out.push_back({i, i});
      size = 0;
    }
    size += stretches[i].size;
    out.back().end = i + 1;
  }
  return out;
}

// Runs `work` and names whose values they are.
template <typename Work>
void named(const std::string& subject, const std::string& file, Work work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.cause() == Cause::kWrite) throw;
    throw error.of(subject).in(file);
  }
}

// The piece, cast where it is to be.
struct Written {
  std::unique_ptr<char[]> cast;
  std::string_view bytes;
  uint64_t overflows = 0;
};

Written written_form(const Casting& casting, std::string_view bytes) {
  if (!casting.any()) return {nullptr, bytes};
  const size_t elements = bytes.size() / dtype_width(casting.from);
  const size_t size = elements * dtype_width(casting.to);
  Written out{std::make_unique_for_overwrite<char[]>(size), {}, 0};
  out.overflows = cast_elements(casting, bytes.data(), out.cast.get(), elements);
  out.bytes = {out.cast.get(), size};
  return out;
}

class Streaming {
 public:
  explicit Streaming(std::vector<Streamed>& items) : items_(items), pieces_(values_of(items)) {}

  void run() {
    for (size_t i = 0; i < items_.size(); ++i) {
      const bool last = i + 1 == items_.size() || items_[i].out != items_[i + 1].out;
      if (last) items_[i].out->reserve(items_[i].at + items_[i].size());
    }
    auto& stretches = pieces_.stretches;
    const std::vector<Batch> work =
        batches(stretches, [&](size_t a, size_t b) { return adjacent(stretches[a], stretches[b]); });
    in_parallel(work.size(), [&](size_t i) { write(work[i]); });
    pieces_.each_whole([&](size_t item, size_t begin, size_t end) {
      const Streamed& owner = items_[pieces_.owner(item)];
      named(owner.subject, owner.file, [&] { pieces_.compare(item, begin, end); });
      if (!pieces_.asked(item)) return;
      named(owner.subject, owner.file, [&] { owner.values->check_read(); });
      for (size_t i = begin; i < end; ++i) items_[item].overflows += stretches[i].overflows;
      if (!owner.take) return;
      uint32_t sum = stretches[begin].written;
      for (size_t i = begin + 1; i < end; ++i) {
        sum =
            join_checksums(*owner.take, sum, stretches[i].written, owner.casting.size_of(stretches[i].size));
      }
      items_[item].checksum = sum;
    });
  }

 private:
  static std::vector<const Values*> values_of(const std::vector<Streamed>& items) {
    std::vector<const Values*> values;
    values.reserve(items.size());
    for (const Streamed& item : items) values.push_back(item.values.get());
    return values;
  }

  uint64_t place(const Stretch& stretch) const {
    const Streamed& item = items_[stretch.item];
    return item.at + item.casting.size_of(stretch.offset);
  }

  bool adjacent(const Stretch& a, const Stretch& b) const {
    if (!pieces_.asked(a.item) || !pieces_.asked(b.item))
      return !pieces_.asked(a.item) && !pieces_.asked(b.item);
    return items_[a.item].out == items_[b.item].out &&
           place(a) + items_[a.item].casting.size_of(a.size) == place(b);
  }

  void write(const Batch& batch) {
    std::string gathered;
    for (size_t i = batch.begin; i < batch.end; ++i) {
      Stretch& stretch = pieces_.stretches[i];
      const Streamed& owner = items_[pieces_.owner(stretch.item)];
      named(owner.subject, owner.file, [&] {
        const Values& values = pieces_.values(stretch.item);
        const auto expected = values.expected();
        uint64_t to = pieces_.asked(stretch.item) ? place(stretch) : 0;
        each_piece(values, stretch.offset, stretch.size, [&](uint64_t /*at*/, const Piece& piece) {
          stretch.read = checksum_read(expected, piece.bytes(), stretch.read);
          if (!pieces_.asked(stretch.item)) return;
          const Written out = written_form(owner.casting, piece.bytes());
          stretch.overflows += out.overflows;
          if (owner.take) {
            const bool known = expected && expected->kind == *owner.take && !owner.casting.any();
            stretch.written = known ? stretch.read : checksum_of(*owner.take, out.bytes, stretch.written);
          }
          if (batch.end - batch.begin == 1) {
            owner.out->write_at(to, out.bytes);
            to += out.bytes.size();
          } else {
            gathered += out.bytes;
          }
        });
      });
    }
    const Stretch& first = pieces_.stretches[batch.begin];
    if (!gathered.empty()) items_[first.item].out->write_at(place(first), gathered);
  }

  std::vector<Streamed>& items_;
  ReadPieces pieces_;
};

}  // namespace

void stream(std::vector<Streamed>& items, const Overflowed& overflowed) {
  for (Streamed& item : items) {
    if (item.casting.any()) continue;
    auto [values, casting] = uncast(std::move(item.values));
    item.values = std::move(values);
    item.casting = casting;
  }
  Streaming(items).run();
  if (!overflowed) return;
  for (size_t begin = 0, end = 0; begin < items.size(); begin = end) {
    uint64_t count = 0;
    for (; end < items.size() && items[end].subject == items[begin].subject; ++end)
      count += items[end].overflows;
    if (count != 0) overflowed(items[begin].subject, count);
  }
}

void check_all(const std::vector<ValuesPtr>& values, const std::string& file,
               const std::function<std::string(size_t)>& subject_of) {
  ReadPieces pieces(plain(values));
  const std::vector<Batch> work = batches(pieces.stretches, [](size_t, size_t) { return true; });
  in_parallel(work.size(), [&](size_t number) {
    for (size_t i = work[number].begin; i < work[number].end; ++i) {
      Stretch& stretch = pieces.stretches[i];
      const size_t owner = pieces.owner(stretch.item);
      try {
        const Values& one = pieces.values(stretch.item);
        const auto expected = one.expected();
        each_piece(one, stretch.offset, stretch.size, [&](uint64_t /*at*/, const Piece& piece) {
          stretch.read = checksum_read(expected, piece.bytes(), stretch.read);
        });
      } catch (const Error& error) {
        throw error.of(subject_of(owner)).in(file);
      }
    }
  });
  pieces.each_whole([&](size_t item, size_t begin, size_t end) {
    try {
      pieces.compare(item, begin, end);
    } catch (const Error& error) {
      throw error.of(subject_of(pieces.owner(item))).in(file);
    }
  });
}

}  // namespace gedit
