#include "checkpoint/values.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/wire.h"
#include "checkpoint/v1.h"

namespace gedit {
namespace {

constexpr size_t kPiece = size_t{256} << 10;
constexpr uint64_t kMostUnpacked = uint64_t{22} * 8;  // snappy, and one byte for a number of eight

template <typename Number>
std::string_view raw(const Number& number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

uint64_t take_length(std::string_view bytes, size_t& at) {
  uint64_t value = 0;
  for (unsigned shift = 0; at < bytes.size() && shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  throw Error(Cause::kInput, "lengths of its strings are damaged");
}

// TensorFlow hashes a length as 32 bits where it fits, in the byte order of the file.
uint32_t hash_length(uint32_t crc, uint64_t length, bool big_endian) {
  if (length <= 0xffffffffU) {
    auto number = static_cast<uint32_t>(length);
    if (big_endian) number = __builtin_bswap32(number);
    return crc32c(crc, raw(number));
  }
  if (big_endian) length = __builtin_bswap64(length);
  return crc32c(crc, raw(length));
}

struct Strings {
  std::vector<std::string_view> parts;
  uint32_t crc = 0;
};

// `keep`: whether the parts are wanted, or the crc alone.
Strings read_strings(uint64_t elements, std::string_view bytes, bool big_endian, bool keep) {
  Strings strings;
  if (elements == 0 && bytes.empty()) return strings;  // TensorFlow writes the checksum of no lengths
  if (elements > bytes.size()) throw Error(Cause::kInput, "lengths of its strings are cut off");
  std::vector<uint64_t> lengths;
  if (keep) lengths.reserve(elements);
  size_t at = 0;
  uint64_t total = 0;
  for (uint64_t i = 0; i < elements; ++i) {
    const uint64_t length = take_length(bytes, at);
    strings.crc = hash_length(strings.crc, length, big_endian);
    if (length > bytes.size() - total) throw Error(Cause::kInput, "a string is longer than all of its bytes");
    total += length;
    if (keep) lengths.push_back(length);
  }
  uint32_t stored = 0;
  if (bytes.size() - at < sizeof stored) throw Error(Cause::kInput, "lengths of its strings are cut off");
  const std::string_view check = bytes.substr(at, sizeof stored);
  std::memcpy(&stored, check.data(), sizeof stored);
  if (big_endian) stored = __builtin_bswap32(stored);
  if (unmasked(stored) != strings.crc) throw Error(Cause::kInput, "checksum of its strings' lengths differs");
  at += sizeof stored;
  if (bytes.size() - at != total) {
    throw Error(Cause::kInput, "its strings take " + std::to_string(total) + " bytes, " +
                                   std::to_string(bytes.size() - at) + " are stored");
  }
  strings.crc = crc32c(strings.crc, check);
  strings.crc = crc32c(strings.crc, bytes.substr(at));
  for (const uint64_t length : lengths) {
    strings.parts.push_back(bytes.substr(at, length));
    at += length;
  }
  return strings;
}

uint32_t variant_crc(uint64_t elements, std::string_view bytes) {
  uint32_t crc = 0;
  size_t at = 0;
  for (uint64_t i = 0; i < elements; ++i) {
    const uint64_t length = take_length(bytes, at);
    if (length > bytes.size() - at || bytes.size() - at - length < 4) {
      throw Error(Cause::kInput, "a variant is cut off");
    }
    crc = crc32c(crc, raw(length));
    crc = crc32c(crc, bytes.substr(at, length));
    at += length;
    uint32_t stored = 0;
    std::memcpy(&stored, bytes.data() + at, sizeof stored);
    if (unmasked(stored) != crc) throw Error(Cause::kInput, "checksum of a variant differs");
    crc = crc32c(crc, bytes.substr(at, sizeof stored));
    at += sizeof stored;
  }
  if (at != bytes.size()) throw Error(Cause::kInput, "has bytes after its last variant");
  return crc;
}

std::vector<int64_t> lengths_of(const Extents& extents) {
  std::vector<int64_t> shape;
  for (const Extent& extent : extents) shape.push_back(extent.length);
  return shape;
}

// Calls use(place in the whole, place in the slice, bytes) for each row of a slice.
template <typename Use>
void each_row(const Extents& extents, const std::vector<int64_t>& shape, size_t width, Use use) {
  const size_t rank = shape.size();
  std::vector<uint64_t> strides(rank, width);  // bytes
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * static_cast<uint64_t>(shape[i]);
  const uint64_t row = rank == 0 ? width : width * static_cast<uint64_t>(extents[rank - 1].length);
  const uint64_t size = element_count(lengths_of(extents)) * width;
  std::vector<int64_t> at(rank, 0);
  for (uint64_t in_slice = 0; in_slice < size; in_slice += row) {
    uint64_t in_whole = 0;
    for (size_t i = 0; i < rank; ++i)
      in_whole += static_cast<uint64_t>(extents[i].start + at[i]) * strides[i];
    use(in_whole, in_slice, row);
    for (size_t i = rank; i-- > 1;) {  // the last dimension is the row
      if (++at[i - 1] < extents[i - 1].length) break;
      at[i - 1] = 0;
    }
  }
}

// Copies a slice to its place in the whole tensor.
void scatter(std::string_view part, const Extents& extents, const std::vector<int64_t>& shape, size_t width,
             std::string& whole) {
  each_row(extents, shape, width, [&](uint64_t in_whole, uint64_t in_slice, uint64_t row) {
    std::memcpy(whole.data() + in_whole, part.data() + in_slice, row);
  });
}

// A well mixed number, the same in every run.
uint64_t weight(uint64_t dimension, uint64_t coordinate) {
  uint64_t z = coordinate + 0x9e3779b97f4a7c15U * (dimension + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;

uint64_t times(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(static_cast<Wide>(a) * b % kPrime);
}

bool overlap(const Extents& a, const Extents& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].start >= b[i].start + b[i].length || b[i].start >= a[i].start + a[i].length) return false;
  }
  return true;
}

// The dimension along which they begin at the most places.
size_t most_cut(const std::vector<Extents>& boxes) {
  size_t dimension = 0, most = 0;
  for (size_t i = 0; i < boxes[0].size(); ++i) {
    std::set<int64_t> starts;
    for (const Extents& box : boxes) starts.insert(box[i].start);
    if (starts.size() > most) dimension = i;
    most = std::max(most, starts.size());
  }
  return dimension;
}

// Along one dimension, each is compared with those that have not ended.
bool any_overlap(std::vector<Extents> boxes) {
  std::erase_if(boxes, [](const Extents& box) {
    return std::ranges::any_of(box, [](const Extent& extent) { return extent.length == 0; });
  });
  if (boxes.size() < 2) return false;
  if (boxes[0].empty()) return true;
  const size_t along = most_cut(boxes);
  std::ranges::sort(boxes, {}, [&](const Extents& box) { return box[along].start; });
  std::vector<const Extents*> open;
  for (const Extents& box : boxes) {
    std::erase_if(open, [&](const Extents* one) {
      return (*one)[along].start + (*one)[along].length <= box[along].start;
    });
    if (std::ranges::any_of(open, [&](const Extents* one) { return overlap(*one, box); })) return true;
    open.push_back(&box);
  }
  return false;
}

}  // namespace

DataFiles::DataFiles(const Checkpoint& checkpoint)
    : checkpoint_(checkpoint), files_(checkpoint.shards.size()) {}

std::shared_ptr<const InputFile> DataFiles::file(uint32_t shard) {
  const Shard& wanted = checkpoint_.shards.at(shard);
  if (wanted.form == Shard::Form::kMemory) return nullptr;
  if (wanted.table) return wanted.table->source();
  if (!files_[shard]) {
    if (!exists(wanted.path)) {
      throw Error(Cause::kInput, "no such file").of(base_name(wanted.path)).in(checkpoint_.prefix);
    }
    files_[shard] = InputFile::open(wanted.path);
  }
  return files_[shard];
}

std::string_view DataFiles::bytes(const Place& place) {
  const Shard& shard = checkpoint_.shards.at(place.shard);
  const auto opened = file(place.shard);
  const std::string_view all = opened ? opened->bytes() : std::string_view(shard.bytes);
  if (place.offset > all.size() || place.size > all.size() - place.offset) {
    throw Error(Cause::kInput, "bytes " + std::to_string(place.offset) + " to " +
                                   std::to_string(place.offset + place.size) + " lie outside " +
                                   std::string(base_name(shard.path)) + " (" + std::to_string(all.size()) +
                                   " bytes)");
  }
  return all.substr(place.offset, place.size);
}

void read_pieces(const InputFile& file, uint64_t offset, uint64_t size,
                 const std::function<void(std::string_view)>& use) {
  std::vector<char> buffer(std::min<uint64_t>(size, kPiece));
  while (size > 0) {
    const ssize_t got = ::pread(file.descriptor(), buffer.data(), std::min<uint64_t>(size, buffer.size()),
                                static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(Cause::kInput, std::strerror(errno)).in(file.path());
    if (got == 0) throw Error(Cause::kInput, "became shorter while it was read").in(file.path());
    use({buffer.data(), static_cast<size_t>(got)});
    offset += static_cast<uint64_t>(got);
    size -= static_cast<uint64_t>(got);
  }
}

Bytes stored_bytes(DataFiles& files, const Tensor& tensor, const Slice* slice) try {
  const Place& place = slice != nullptr ? slice->place : tensor.place;
  std::vector<int64_t> shape = tensor.shape;
  if (slice != nullptr) {
    const auto settled = settle_extents(slice->extents, tensor.shape);
    if (!settled) throw Error(Cause::kInput, "slice " + slice_text(slice->extents) + " leaves the shape");
    shape = lengths_of(*settled);
  }
  const uint64_t elements = element_count(shape);
  const Shard& shard = files.checkpoint().shards.at(place.shard);
  if (shard.form == Shard::Form::kTable) {
    return Bytes(
        v1_values(*shard.table, slice != nullptr ? slice->record : tensor.record, tensor.dtype, elements));
  }
  const std::string_view bytes = files.bytes(place);
  const size_t width = dtype_width(tensor.dtype);
  if (width != 0 && (bytes.size() / width != elements || bytes.size() % width != 0)) {
    throw Error(Cause::kInput, std::to_string(bytes.size()) + " bytes are stored, its shape has " +
                                   std::to_string(elements) + " elements of " + std::to_string(width));
  }
  const bool big_endian = shard.form == Shard::Form::kBigEndian;
  if (unmasked(place.crc32c) != value_crc32c(tensor.dtype, elements, bytes, big_endian)) {
    throw Error(Cause::kInput, "checksum differs");
  }
  if (!big_endian) return Bytes(bytes);
  if (tensor.dtype == DType::kVariant)
    throw Error(Cause::kInput, "is a big-endian variant, which nobody reads");
  if (tensor.dtype == DType::kString) return Bytes(string_bytes(strings_of(elements, bytes, true)));
  std::string swapped(bytes);
  swap_bytes(tensor.dtype, swapped);
  return Bytes(std::move(swapped));
} catch (const Error& error) {
  throw error.of(tensor_subject(tensor.name)).in(files.checkpoint().prefix);
}

Bytes tensor_bytes(DataFiles& files, const Tensor& tensor) {
  if (!tensor.partitioned()) return stored_bytes(files, tensor);
  const auto refuse = [&](const std::string& what) {
    return Error(Cause::kInput, what).of(tensor_subject(tensor.name)).in(files.checkpoint().prefix);
  };
  if (const std::string fault = slices_fault(tensor.slices, tensor.shape); !fault.empty())
    throw refuse(fault);
  const size_t width = dtype_width(tensor.dtype);
  if (width == 0) {
    if (tensor.dtype != DType::kString) throw refuse("is a partitioned " + dtype_name(tensor.dtype));
    std::vector<Bytes> parts;
    std::vector<std::string_view> whole(element_count(tensor.shape));
    // Strings are put together through their numbers: scatter() moves elements of eight bytes.
    std::vector<std::string_view> all;
    std::string order(whole.size() * sizeof(uint64_t), '\0');
    for (const Slice& slice : tensor.slices) {
      parts.push_back(stored_bytes(files, tensor, &slice));
      const Extents extents = settle_extents(slice.extents, tensor.shape).value_or(Extents{});
      std::string numbers;
      for (const std::string_view text :
           strings_of(element_count(lengths_of(extents)), parts.back().view())) {
        const uint64_t number = all.size();
        numbers += raw(number);
        all.push_back(text);
      }
      scatter(numbers, extents, tensor.shape, sizeof(uint64_t), order);
    }
    for (size_t i = 0; i < whole.size(); ++i) {
      uint64_t number = 0;
      std::memcpy(&number, order.data() + i * sizeof number, sizeof number);
      whole[i] = all[number];
    }
    return Bytes(string_bytes(whole));
  }
  // A shape is believed, and memory asked for, once its bytes are seen.
  const uint64_t elements = element_count(tensor.shape);
  uint64_t present = 0;
  for (const Slice& slice : tensor.slices) {
    if (in_table(files.checkpoint(), slice.place)) {
      present += files.file(slice.place.shard)->bytes().size() * kMostUnpacked;
    } else {
      present += files.bytes(slice.place).size();
    }
  }
  if (present / width < elements) throw refuse("its slices hold too few bytes");
  std::string whole(elements * width, '\0');
  for (const Slice& slice : tensor.slices) {
    const Bytes part = stored_bytes(files, tensor, &slice);
    scatter(part.view(), settle_extents(slice.extents, tensor.shape).value_or(Extents{}), tensor.shape, width,
            whole);
  }
  return Bytes(std::move(whole));
}

uint32_t value_crc32c(DType dtype, uint64_t elements, std::string_view bytes, bool big_endian) {
  if (dtype == DType::kString) return read_strings(elements, bytes, big_endian, false).crc;
  if (dtype == DType::kVariant) return variant_crc(elements, bytes);
  return crc32c(bytes);
}

std::vector<std::string_view> strings_of(uint64_t elements, std::string_view bytes, bool big_endian) {
  return read_strings(elements, bytes, big_endian, true).parts;
}

std::string string_bytes(const std::vector<std::string_view>& strings) {
  std::string out;
  if (strings.empty()) return out;
  uint32_t crc = 0;
  for (const std::string_view text : strings) {
    append_varint(out, text.size());
    crc = hash_length(crc, text.size(), false);
  }
  const uint32_t stored = masked(crc);
  out += raw(stored);
  for (const std::string_view text : strings) out += text;
  return out;
}

std::string slice_of(std::string_view whole, const std::vector<int64_t>& shape, const Extents& extents,
                     size_t width) {
  std::string part;
  each_row(extents, shape, width, [&](uint64_t in_whole, uint64_t /*in_slice*/, uint64_t row) {
    part += whole.substr(in_whole, row);
  });
  return part;
}

void swap_bytes(DType dtype, std::string& bytes) {
  size_t width = dtype_width(dtype);
  if (dtype == DType::kComplex64 || dtype == DType::kComplex128) width /= 2;
  if (width < 2) return;
  for (size_t at = 0; at + width <= bytes.size(); at += width) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
  }
}

void add_tensor(Checkpoint& checkpoint, const std::string& name, DType dtype, std::vector<int64_t> shape,
                std::string_view bytes) {
  if (checkpoint.shards.empty() || checkpoint.shards.back().form != Shard::Form::kMemory) {
    checkpoint.shards.emplace_back().form = Shard::Form::kMemory;
  }
  Shard& shard = checkpoint.shards.back();
  Tensor& tensor = checkpoint.tensors.emplace_back();
  tensor.name = name;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.place = {.shard = static_cast<uint32_t>(checkpoint.shards.size() - 1),
                  .offset = shard.bytes.size(),
                  .size = bytes.size(),
                  .crc32c = masked(value_crc32c(dtype, element_count(tensor.shape), bytes))};
  shard.bytes += bytes;
}

SlicesFit slices_fit(const std::vector<Slice>& slices, const std::vector<int64_t>& shape) {
  // The weight of a box is the product, over the dimensions, of the sum of the weights of its coordinates.
  // Boxes that cover the shape once weigh what the shape weighs; others do so with a chance of rank in 2^61.
  // A sum over a range is the difference of two numbers drawn for its ends.
  const auto range = [](uint64_t dimension, int64_t from, int64_t to) {
    const uint64_t low = weight(dimension, static_cast<uint64_t>(from)) % kPrime;
    const uint64_t high = weight(dimension, static_cast<uint64_t>(to)) % kPrime;
    return high >= low ? high - low : high + kPrime - low;
  };
  const uint64_t all = element_count(shape);
  uint64_t want = 1, got = 0, volume = 0;
  for (size_t i = 0; i < shape.size(); ++i) want = times(want, range(i, 0, shape[i]));
  std::vector<Extents> boxes;
  for (const Slice& slice : slices) {
    auto settled = settle_extents(slice.extents, shape);
    if (!settled) return {"slice " + slice_text(slice.extents) + " leaves the shape"};
    uint64_t part = 1;
    for (size_t i = 0; i < shape.size(); ++i) {
      const Extent& extent = (*settled)[i];
      part = times(part, range(i, extent.start, extent.start + extent.length));
    }
    got = (got + part) % kPrime;
    const uint64_t count = element_count(lengths_of(*settled));
    if (count > all - std::min(all, volume)) return {"slices overlap"};
    volume += count;
    boxes.push_back(*std::move(settled));
  }
  if (volume == all) return {all == 0 || got == want ? "" : "slices overlap and leave a part uncovered"};
  if (any_overlap(std::move(boxes))) return {"slices overlap and leave a part uncovered"};
  return {.fault = {}, .whole = false};
}

std::string slices_fault(const std::vector<Slice>& slices, const std::vector<int64_t>& shape) {
  const SlicesFit fit = slices_fit(slices, shape);
  return fit.whole ? fit.fault : "slices leave a part uncovered";
}

std::vector<Extents> in_order(std::vector<Extents> extents) {
  std::ranges::sort(extents, [](const Extents& a, const Extents& b) {
    return std::ranges::lexicographical_compare(a, b, {}, &Extent::start, &Extent::start);
  });
  return extents;
}

std::vector<Extents> extents_of(const Tensor& tensor) {
  std::vector<Extents> all;
  for (const Slice& slice : tensor.slices)
    all.push_back(settle_extents(slice.extents, tensor.shape).value_or(Extents{}));
  return all;
}

}  // namespace gedit
