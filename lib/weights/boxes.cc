// Values that are parts of other values, made of parts, or transposed: what a piece needs is found by
// computing, and read in runs.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "checkpoint/bundle.h"
#include "weights/values.h"

namespace gedit {
namespace {

constexpr uint64_t kNear = uint64_t{64} << 10;   // runs that are this near are read with what lies between
constexpr uint64_t kWindow = uint64_t{1} << 20;  // at most so much at once
constexpr uint64_t kBox = uint64_t{4} << 20;  // made at once: what lies far apart is then worth the reading

// The rows of a box in a whole tensor, in order: each lies in one piece in both.
class BoxRows {
 public:
  BoxRows(const std::vector<int64_t>& shape, const Extents& extents, size_t width) {
    size_t dims = shape.size();
    row_ = width;
    uint64_t stride = width;
    // Full dimensions at the end, and the first one before them, are one row.
    while (dims > 0) {
      --dims;
      row_ = stride * static_cast<uint64_t>(extents[dims].length);
      first_ += stride * static_cast<uint64_t>(extents[dims].start);
      stride *= static_cast<uint64_t>(shape[dims]);
      if (extents[dims].length != shape[dims]) break;
    }
    for (; dims > 0; --dims) {
      const Extent& extent = extents[dims - 1];
      lengths_.push_back(static_cast<uint64_t>(extent.length));
      strides_.push_back(stride);
      first_ += stride * static_cast<uint64_t>(extent.start);
      count_ *= static_cast<uint64_t>(extent.length);
      stride *= static_cast<uint64_t>(shape[dims - 1]);
    }
    if (row_ == 0) count_ = 0;
  }

  uint64_t count() const { return count_; }
  uint64_t row() const { return row_; }  // bytes
  uint64_t size() const { return count_ * row_; }

  // Where row `i` begins in the whole.
  uint64_t place(uint64_t i) const {
    uint64_t at = first_;
    for (size_t k = 0; k < lengths_.size(); ++k) {  // the last dimension comes first
      at += i % lengths_[k] * strides_[k];
      i /= lengths_[k];
    }
    return at;
  }

  // The first row that ends behind `at` in the whole; count() where none does.
  uint64_t first_behind(uint64_t at) const {
    uint64_t low = 0, high = count_;
    while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      if (place(middle) + row_ > at) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

 private:
  std::vector<uint64_t> lengths_, strides_;
  uint64_t first_ = 0, row_ = 0, count_ = 1;
};

class PartValues final : public Values {
 public:
  PartValues(ValuesPtr whole, const std::vector<int64_t>& shape, const Extents& extents, size_t width)
      : whole_(std::move(whole)), rows_(shape, extents, width) {}

  uint64_t size() const override { return rows_.size(); }
  uint64_t grain() const override { return whole_->grain() <= 4 * kBox ? kBox : (size() / kBox + 1) * kBox; }

  Piece read(uint64_t offset, uint64_t size) const override {
    auto buffer = std::make_unique_for_overwrite<char[]>(size);
    if (size == 0) return {std::move(buffer), 0};
    const uint64_t row = rows_.row();
    const uint64_t last = (offset + size - 1) / row;
    std::optional<Piece> window;
    uint64_t window_at = 0;
    for (uint64_t done = 0; done < size;) {
      const uint64_t number = (offset + done) / row;
      const uint64_t in_row = (offset + done) % row;
      const uint64_t at = rows_.place(number) + in_row;
      const uint64_t want = std::min(row - in_row, size - done);
      if (!window || at < window_at || at + want > window_at + window->bytes().size()) {
        uint64_t reach = want;
        if (number < last && rows_.place(number + 1) - rows_.place(number) <= kNear) {
          const uint64_t end = rows_.place(last) + (offset + size - last * row);
          reach = std::max(reach, std::min(end - at, kWindow));
        }
        window.reset();
        window.emplace(whole_->read(at, reach));
        window_at = at;
      }
      std::memcpy(buffer.get() + done, window->bytes().data() + (at - window_at), want);
      done += want;
    }
    return {std::move(buffer), size};
  }

  void made_of(std::vector<const Values*>& leaves) const override {
    leaves.push_back(whole_.get());
    whole_->made_of(leaves);
  }

 private:
  ValuesPtr whole_;
  BoxRows rows_;
};

class JoinedValues final : public Values {
 public:
  JoinedValues(std::vector<ValuePart> parts, const std::vector<int64_t>& shape, size_t width)
      : size_(element_count(shape) * width) {
    uint64_t there = 0;
    for (ValuePart& part : parts) {
      rows_.emplace_back(shape, part.extents, width);
      there += rows_.back().size();
      values_.push_back(std::move(part.values));
      if (values_.back()->grain() > 4 * kBox) grain_ = (size_ / kBox + 1) * kBox;
    }
    whole_ = there == size_;
  }

  uint64_t size() const override { return size_; }
  uint64_t grain() const override { return grain_; }

  Piece read(uint64_t offset, uint64_t size) const override {
    auto buffer = whole_ ? std::make_unique_for_overwrite<char[]>(size) : std::make_unique<char[]>(size);
    for (size_t i = 0; i < rows_.size(); ++i) {
      const BoxRows& rows = rows_[i];
      uint64_t number = rows.first_behind(offset);
      while (number < rows.count() && rows.place(number) < offset + size) {
        // As many rows as a window holds, which lie behind one another in the part.
        const uint64_t most = std::max<uint64_t>(1, kWindow / rows.row());
        uint64_t end = number + 1;
        while (end < rows.count() && end - number < most && rows.place(end) < offset + size) ++end;
        copy_rows(i, number, end, offset, size, buffer.get());
        number = end;
      }
    }
    return {std::move(buffer), size};
  }

  void made_of(std::vector<const Values*>& leaves) const override {
    for (const ValuesPtr& values : values_) {
      leaves.push_back(values.get());
      values->made_of(leaves);
    }
  }

 private:
  void copy_rows(size_t part, uint64_t begin, uint64_t end, uint64_t offset, uint64_t size, char* to) const {
    const BoxRows& rows = rows_[part];
    const uint64_t row = rows.row();
    // The first and the last one may lie in the piece in part.
    const uint64_t skip = offset > rows.place(begin) ? offset - rows.place(begin) : 0;
    const uint64_t last_at = rows.place(end - 1);
    const uint64_t cut = last_at + row > offset + size ? last_at + row - (offset + size) : 0;
    const uint64_t from = begin * row + skip;
    const Piece bytes = values_[part]->read(from, end * row - cut - from);
    uint64_t taken = 0;
    for (uint64_t i = begin; i < end; ++i) {
      const uint64_t start = rows.place(i) + (i == begin ? skip : 0);
      const uint64_t length = row - (i == begin ? skip : 0) - (i + 1 == end ? cut : 0);
      std::memcpy(to + (start - offset), bytes.bytes().data() + taken, length);
      taken += length;
    }
  }

  std::vector<BoxRows> rows_;
  std::vector<ValuesPtr> values_;
  uint64_t size_;
  bool whole_ = true;
  uint64_t grain_ = kBox;
};

class TransposedValues final : public Values {
 public:
  TransposedValues(ValuesPtr values, std::vector<int64_t> shape, std::vector<size_t> order, size_t width)
      : values_(std::move(values)), shape_(std::move(shape)), order_(std::move(order)), width_(width) {
    // `unit_`: what of the result a range of its dimension `split_` is made of; it fits into memory.
    unit_ = values_->size();
    while (split_ + 1 < order_.size() && unit_ > kBox) {
      unit_ /= static_cast<uint64_t>(shape_[order_[split_++]]);
    }
    if (split_ < order_.size() && unit_ != 0) unit_ /= static_cast<uint64_t>(shape_[order_[split_]]);
    unit_ = std::max<uint64_t>(unit_, 1);
  }

  uint64_t size() const override { return values_->size(); }
  uint64_t grain() const override {
    if (values_->grain() > 4 * kBox) return (size() / kBox + 1) * kBox;
    return std::max<uint64_t>(1, kBox / unit_) * unit_;
  }

  Piece read(uint64_t offset, uint64_t size) const override {
    auto buffer = std::make_unique_for_overwrite<char[]>(size);
    if (size == 0) return {std::move(buffer), 0};
    const auto range = static_cast<uint64_t>(shape_[order_[split_]]);  // units that a box can span
    const uint64_t end = offset + size;
    for (uint64_t unit = offset / unit_; unit * unit_ < end;) {
      const uint64_t first = unit % range;
      const uint64_t last_unit = (end - 1) / unit_;
      const uint64_t count = std::min(range - first, last_unit - unit + 1);
      const std::string box = transposed_box(unit / range, first, count);
      const uint64_t box_at = unit * unit_;
      const uint64_t from = std::max(box_at, offset), to = std::min(box_at + box.size(), end);
      std::memcpy(buffer.get() + (from - offset), box.data() + (from - box_at), to - from);
      unit += count;
    }
    return {std::move(buffer), size};
  }

  void made_of(std::vector<const Values*>& leaves) const override {
    leaves.push_back(values_.get());
    values_->made_of(leaves);
  }

 private:
  // The part of the result whose leading coordinates are the number `leading`, and that of dimension split_
  // runs from `first` on.
  std::string transposed_box(uint64_t leading, uint64_t first, uint64_t count) const {
    const size_t rank = shape_.size();
    Extents extents(rank);
    for (size_t i = 0; i < rank; ++i) extents[i] = {0, shape_[i]};
    for (size_t i = split_; i-- > 0;) {
      const auto length = static_cast<uint64_t>(shape_[order_[i]]);
      extents[order_[i]] = {static_cast<int64_t>(leading % length), 1};
      leading /= length;
    }
    extents[order_[split_]] = {static_cast<int64_t>(first), static_cast<int64_t>(count)};
    const PartValues part(values_, shape_, extents, width_);
    const Piece box = part.read(0, part.size());
    std::vector<uint64_t> strides(rank, width_);  // in the box
    for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * static_cast<uint64_t>(extents[i].length);
    std::string out(part.size(), '\0');
    std::vector<uint64_t> at(rank, 0);  // in the order of the result
    const size_t inner = order_[rank - 1];
    const auto row = static_cast<uint64_t>(extents[inner].length);
    for (char *to = out.data(), *end = to + out.size(); to < end;) {
      uint64_t from = 0;
      for (size_t i = 0; i + 1 < rank; ++i) from += at[i] * strides[order_[i]];
      for (uint64_t k = 0; k < row; ++k, to += width_, from += strides[inner]) {
        std::memcpy(to, box.bytes().data() + from, width_);
      }
      for (size_t i = rank - 1; i-- > 0;) {
        if (++at[i] < static_cast<uint64_t>(extents[order_[i]].length)) break;
        at[i] = 0;
      }
    }
    return out;
  }

  ValuesPtr values_;
  std::vector<int64_t> shape_;
  std::vector<size_t> order_;
  size_t width_;
  size_t split_ = 0;
  uint64_t unit_ = 0;  // bytes
};

}  // namespace

ValuesPtr part_values(ValuesPtr whole, const std::vector<int64_t>& shape, const Extents& extents,
                      size_t width) {
  return std::make_shared<PartValues>(std::move(whole), shape, extents, width);
}

ValuesPtr joined_values(std::vector<ValuePart> parts, const std::vector<int64_t>& shape, size_t width) {
  return std::make_shared<JoinedValues>(std::move(parts), shape, width);
}

ValuesPtr transposed_values(ValuesPtr values, std::vector<int64_t> shape, std::vector<size_t> order,
                            size_t width) {
  if (std::is_sorted(order.begin(), order.end()) || values->size() == 0) return values;
  return std::make_shared<TransposedValues>(std::move(values), std::move(shape), std::move(order), width);
}

}  // namespace gedit
