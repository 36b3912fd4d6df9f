#include "checkpoint/constant.h"

#include <algorithm>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/packed.h"
#include "checkpoint/proto.h"
#include "graph/tensor_layout.h"

namespace gedit {
namespace {

constexpr uint64_t kWritten = uint64_t{4} << 20;  // bytes at a time
constexpr uint64_t kStep = uint64_t{1} << 20;  // bytes that are looked at before it is asked whether to go on
constexpr uint32_t kDtype = 1, kShape = 2, kStringValue = TensorLayout::kStringField;  // TensorProto

std::vector<int64_t> shape_of(const Extents& extents) {
  std::vector<int64_t> shape;
  for (const Extent& extent : extents) shape.push_back(extent.length);
  return shape;
}

// Elements of one width that lie somewhere.
class Elements : public Stream {
 public:
  // Calls use(bytes) for all of them in pieces, until it says false.
  virtual void each(const std::function<bool(std::string_view)>& use) const = 0;
};

// Ranges of data files, one behind the other.
class Ranges final : public Elements {
 public:
  struct Range {
    uint32_t shard;
    uint64_t offset, size;
    std::optional<uint32_t> crc32c;  // masked, of the whole range
  };

  Ranges(std::shared_ptr<ValueSource> source, std::string name, std::vector<Range> ranges)
      : source_(std::move(source)), name_(std::move(name)), ranges_(std::move(ranges)) {
    for (const Range& range : ranges_) size_ += range.size;
  }

  uint64_t size() const override { return size_; }

  void write(Sink& sink) const override {
    for (const Range& range : ranges_) {
      uint32_t crc = 0;
      const auto file = source_->files.file(range.shard);
      // The sink writes while the next checksum is taken.
      for (uint64_t at = 0; at < range.size; at += kWritten) {
        const uint64_t size = std::min(kWritten, range.size - at);
        const std::string_view bytes = source_->files.bytes({range.shard, range.offset + at, size, 0});
        if (file != nullptr) file->fetch(bytes);
        crc = crc32c(crc, bytes);
        if (file == nullptr) {
          sink.write(bytes);
        } else {
          sink.write_from(file, bytes);
        }
      }
      if (range.crc32c && unmasked(*range.crc32c) != crc) {
        throw Error(Cause::kInput, "checksum differs")
            .of(tensor_subject(name_))
            .in(source_->checkpoint.prefix);
      }
    }
  }

  void each(const std::function<bool(std::string_view)>& use) const override {
    bool more = true;
    for (const Range& range : ranges_) {
      for (uint64_t at = 0; at < range.size && more; at += kStep) {
        pieces(range, at, std::min(kStep, range.size - at),
               [&](std::string_view bytes) { more = more && use(bytes); });
      }
    }
  }

 private:
  void pieces(const Range& range, uint64_t from, uint64_t size,
              const std::function<void(std::string_view)>& use) const {
    const auto file = source_->files.file(range.shard);
    if (file == nullptr) return use(source_->files.bytes({range.shard, range.offset + from, size, 0}));
    read_pieces(*file, range.offset + from, size, use);
  }

  std::shared_ptr<ValueSource> source_;
  std::string name_;
  std::vector<Range> ranges_;
  uint64_t size_ = 0;
};

// What has to be put together first: one tensor at a time is in memory, while it is looked at or written.
class PutTogether final : public Elements {
 public:
  PutTogether(std::shared_ptr<ValueSource> source, const Tensor& tensor, std::optional<Extents> part,
              uint64_t size)
      : source_(std::move(source)), tensor_(tensor), part_(std::move(part)), size_(size) {}

  uint64_t size() const override { return size_; }
  void write(Sink& sink) const override {
    each([&](std::string_view bytes) {
      sink.write(bytes);
      return true;
    });
  }
  void each(const std::function<bool(std::string_view)>& use) const override {
    const Bytes whole = tensor_bytes(source_->files, tensor_);
    if (!part_) {
      use(whole.view());
    } else {
      use(slice_of(whole.view(), tensor_.shape, *part_, dtype_width(tensor_.dtype)));
    }
  }

 private:
  std::shared_ptr<ValueSource> source_;
  const Tensor& tensor_;  // of the source's checkpoint
  std::optional<Extents> part_;
  uint64_t size_;
};

// Whether only the first dimension is cut: such parts are ranges of the whole, and the whole is a row of
// them.
bool cuts_rows(const Extents& extents, const std::vector<int64_t>& shape) {
  for (size_t i = 1; i < shape.size(); ++i) {
    if (extents[i].start != 0 || extents[i].length != shape[i]) return false;
  }
  return !shape.empty();
}

class Finder {
 public:
  Finder(const std::shared_ptr<ValueSource>& source, const Tensor& tensor, std::optional<Extents> part)
      : source_(source),
        tensor_(tensor),
        part_(std::move(part)),
        width_(dtype_width(tensor.dtype)),
        size_(element_count(part_ ? shape_of(*part_) : tensor.shape) * width_) {}

  std::unique_ptr<const Elements> find() {
    std::optional<std::vector<Ranges::Range>> ranges = tensor_.partitioned() ? of_slices() : of_whole();
    if (ranges) return std::make_unique<Ranges>(source_, tensor_.name, std::move(*ranges));
    return std::make_unique<PutTogether>(source_, tensor_, part_, size_);
  }

 private:
  bool streams(const Place& place) const {
    const Shard::Form form = source_->checkpoint.shards.at(place.shard).form;
    return form == Shard::Form::kData || form == Shard::Form::kMemory;
  }

  void check(const Place& place, uint64_t size) const {
    source_->files.bytes(place);  // throws where they lie outside
    if (place.size == size) return;
    throw Error(Cause::kInput,
                std::to_string(place.size) + " bytes are stored, its shape takes " + std::to_string(size));
  }

  std::optional<std::vector<Ranges::Range>> of_whole() const {
    const Place& place = tensor_.place;
    if (!streams(place)) return std::nullopt;
    check(place, element_count(tensor_.shape) * width_);
    if (!part_ || *part_ == settle_extents(Extents(tensor_.shape.size()), tensor_.shape))
      return std::vector<Ranges::Range>{{place.shard, place.offset, place.size, place.crc32c}};
    if (!cuts_rows(*part_, tensor_.shape)) return std::nullopt;
    const uint64_t row = place.size / static_cast<uint64_t>(std::max<int64_t>(tensor_.shape[0], 1));
    return std::vector<Ranges::Range>{
        {place.shard, place.offset + static_cast<uint64_t>((*part_)[0].start) * row, size_, std::nullopt}};
  }

  std::optional<std::vector<Ranges::Range>> of_slices() const {
    std::vector<std::pair<Extents, const Slice*>> slices;
    for (const Slice& slice : tensor_.slices) {
      const auto extents = settle_extents(slice.extents, tensor_.shape);
      if (!extents || !streams(slice.place)) return std::nullopt;
      slices.emplace_back(*extents, &slice);
    }
    const auto range = [&](const std::pair<Extents, const Slice*>& slice) {
      const Place& place = slice.second->place;
      check(place, element_count(shape_of(slice.first)) * width_);
      return Ranges::Range{place.shard, place.offset, place.size, place.crc32c};
    };
    if (part_) {  // as it was saved: the part is a slice
      for (const auto& slice : slices) {
        if (slice.first == *part_) return std::vector<Ranges::Range>{range(slice)};
      }
      return std::nullopt;
    }
    if (const std::string fault = slices_fault(tensor_.slices, tensor_.shape); !fault.empty())
      throw Error(Cause::kInput, fault);
    std::vector<Ranges::Range> ranges;
    std::sort(slices.begin(), slices.end(), [](const auto& a, const auto& b) {
      return !a.first.empty() && !b.first.empty() && a.first[0].start < b.first[0].start;
    });
    for (const auto& slice : slices) {
      if (!cuts_rows(slice.first, tensor_.shape)) return std::nullopt;
      ranges.push_back(range(slice));
    }
    return ranges;
  }

  const std::shared_ptr<ValueSource>& source_;
  const Tensor& tensor_;
  std::optional<Extents> part_;
  size_t width_;
  uint64_t size_;
};

// The element that all are, empty where two differ.
std::string only_element(const Elements& elements, size_t width) {
  std::string first, rest;
  bool same = true;
  elements.each([&](std::string_view bytes) {
    // Pieces need not end where an element does.
    if (!rest.empty() || first.empty()) {
      const size_t missing = std::min(width - rest.size(), bytes.size());
      rest += bytes.substr(0, missing);
      bytes.remove_prefix(missing);
      if (rest.size() < width) return true;
      if (first.empty()) first = rest;
      same = rest == first;
      rest.clear();
    }
    for (; same && bytes.size() >= width; bytes.remove_prefix(width)) same = bytes.starts_with(first);
    rest = bytes;
    return same;
  });
  return same ? first : std::string();
}

// The one value in the list of its type.
void append_element(std::string& proto, DType dtype, const std::string& element) {
  const TensorLayout layout = tensor_layout(dtype);
  const Wire wire = tensor_wire(layout.field);
  if (wire != Wire::kVarint) return append_bytes_field(proto, layout.field, element);
  uint64_t number = little_endian(element);
  const size_t bits = element.size() * 8;
  if (layout.element == Element::kInt && bits < 64 && (number >> (bits - 1) & 1) != 0)
    number |= ~uint64_t{0} << bits;
  std::string packed;
  append_varint(packed, number);
  append_bytes_field(proto, layout.field, packed);
}

void append_strings(std::string& proto, const std::shared_ptr<ValueSource>& source, const Tensor& tensor,
                    const std::optional<Extents>& part) {
  const Bytes whole = tensor_bytes(source->files, tensor);
  const std::vector<std::string_view> strings = strings_of(element_count(tensor.shape), whole.view());
  if (!part) {
    for (const std::string_view text : strings) append_bytes_field(proto, kStringValue, text);
    return;
  }
  // The numbers of the strings are cut like any tensor.
  std::string numbers;
  for (uint64_t i = 0; i < strings.size(); ++i) numbers.append(reinterpret_cast<const char*>(&i), sizeof i);
  const std::string cut = slice_of(numbers, tensor.shape, *part, sizeof(uint64_t));
  for (Packed chosen(cut, sizeof(uint64_t)); chosen.next();)
    append_bytes_field(proto, kStringValue, strings[chosen.value()]);
}

}  // namespace

ConstantValue constant_value(const std::shared_ptr<ValueSource>& source, const Tensor& tensor,
                             const std::optional<Extents>& part) try {
  ConstantValue value;
  append_varint_field(value.tensor_proto, kDtype, static_cast<uint64_t>(tensor.dtype));
  append_bytes_field(value.tensor_proto, kShape, shape_bytes(part ? shape_of(*part) : tensor.shape));
  if (tensor.dtype == DType::kString) {
    append_strings(value.tensor_proto, source, tensor, part);
    return value;
  }
  if (dtype_width(tensor.dtype) == 0)
    throw Error(Cause::kInput, "is a " + dtype_name(tensor.dtype) + ", which no Const holds");
  std::unique_ptr<const Elements> elements = Finder(source, tensor, part).find();
  if (elements->size() == 0) return value;
  const std::string only = only_element(*elements, dtype_width(tensor.dtype));
  if (only.empty()) {
    value.content = std::move(elements);
  } else {
    append_element(value.tensor_proto, tensor.dtype, only);
  }
  return value;
} catch (const Error& error) {
  throw error.of(tensor_subject(tensor.name)).in(source->checkpoint.prefix);
}

}  // namespace gedit
