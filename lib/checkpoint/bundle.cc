#include "checkpoint/bundle.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/wire.h"
#include "checkpoint/proto.h"

namespace gedit {
namespace {

constexpr uint64_t kMostShards = 99999;  // five digits in a name
constexpr size_t kSmallestRecord = 32;   // bytes, about
constexpr size_t kKeyFactor = 64;        // names may unpack to this many times the index, plus a little

// What is read of a BundleEntryProto.
struct Entry {
  DType dtype = DType::kInvalid;
  std::vector<int64_t> shape;
  Place place;
  bool sliced = false;
};

uint64_t not_negative(uint64_t varint, const char* what) {
  if (varint > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    throw Error(Cause::kInput, std::string(what) + " is negative");
  }
  return varint;
}

Entry parse_entry(std::string_view bytes, uint64_t shards) {
  Entry entry;
  uint64_t shard = 0;
  for (Fields fields(bytes); fields.next();) {
    const Field& field = fields.field();
    if (field.number == 1 && field.wire == Wire::kVarint) {
      entry.dtype = static_cast<DType>(static_cast<int32_t>(field.varint));
    } else if (field.bytes(2)) {
      entry.shape = entry_shape(field.value);
    } else if (field.number == 3 && field.wire == Wire::kVarint) {
      shard = field.varint;
    } else if (field.number == 4 && field.wire == Wire::kVarint) {
      entry.place.offset = not_negative(field.varint, "offset");
    } else if (field.number == 5 && field.wire == Wire::kVarint) {
      entry.place.size = not_negative(field.varint, "size");
    } else if (field.number == 6 && field.wire == Wire::kFixed32) {
      entry.place.crc32c = fixed32(field);
    } else if (field.bytes(7)) {
      entry.sliced = true;
    }
  }
  if (shard >= shards) {
    throw Error(Cause::kInput,
                "lies in data file " + std::to_string(shard) + " of " + std::to_string(shards));
  }
  entry.place.shard = static_cast<uint32_t>(shard);
  if (entry.place.offset > std::numeric_limits<uint64_t>::max() / 2 - entry.place.size) {
    throw Error(Cause::kInput, "offset and size overflow");
  }
  element_count(entry.shape);
  return entry;
}

struct BundleHeader {
  uint64_t shards = 0;
  bool big_endian = false;
  uint64_t min_consumer = 0;
};

BundleHeader parse_header(std::string_view bytes) {
  BundleHeader header;
  for (Fields fields(bytes); fields.next();) {
    if (fields->number == 1 && fields->wire == Wire::kVarint) header.shards = fields->varint;
    if (fields->number == 2 && fields->wire == Wire::kVarint) {
      if (fields->varint > 1) {
        throw Error(Cause::kInput, "byte order " + std::to_string(fields->varint) + " is unknown");
      }
      header.big_endian = fields->varint == 1;
    }
    if (fields->bytes(3)) header.min_consumer = last_varint(fields->value, 2);
  }
  if (header.shards > kMostShards) {
    throw Error(Cause::kInput, "counts " + std::to_string(header.shards) + " data files, at most " +
                                   std::to_string(kMostShards) + " are read");
  }
  if (header.min_consumer > 1) {  // kTensorBundleVersion
    throw Error(Cause::kInput, "is of a later version (" + std::to_string(header.min_consumer) + ")");
  }
  return header;
}

// The index as it is read: records go to the tensor or to the slice that they are.
class IndexReader {
 public:
  explicit IndexReader(Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  void take(std::string_view key, std::string_view value) {
    if (first_) {
      first_ = false;
      if (!key.empty()) throw Error(Cause::kInput, "has no header");
      checkpoint_.header = value;
      header_ = in([&] { return quoted("key", key); }, [&] { return parse_header(value); });
      return;
    }
    const std::string_view last =
        checkpoint_.tensors.empty() ? std::string_view(last_slice_) : checkpoint_.tensors.back().name;
    if (key <= last) {
      throw Error(Cause::kInput, key == last ? "is there twice" : "is out of order").of(quoted("key", key));
    }
    if (is_slice_key(key)) return take_slice(key, value);
    Entry entry = in([&] { return tensor_subject(key); }, [&] { return parse_entry(value, header_.shards); });
    if (entry.sliced) sliced_.push_back(checkpoint_.tensors.size());
    Tensor& tensor = checkpoint_.tensors.emplace_back();
    tensor.name = key;
    tensor.record = value;
    tensor.dtype = entry.dtype;
    tensor.shape = std::move(entry.shape);
    tensor.place = entry.place;
  }

  void finish() {
    if (first_) throw Error(Cause::kInput, "has no header");
    for (size_t i = 0; i < header_.shards; ++i) {
      Shard shard;
      shard.form = header_.big_endian ? Shard::Form::kBigEndian : Shard::Form::kData;
      shard.path = shard_path(checkpoint_.prefix, i, header_.shards);
      checkpoint_.shards.push_back(std::move(shard));
    }
    // Slices come sorted by name, as tensors do, but names in keys are escaped: found by search.
    for (auto& [name, slice] : slices_) {
      auto place =
          std::lower_bound(checkpoint_.tensors.begin(), checkpoint_.tensors.end(), name,
                           [](const Tensor& tensor, const std::string& n) { return tensor.name < n; });
      if (place == checkpoint_.tensors.end() || place->name != name) {
        throw Error(Cause::kInput, "has a slice, but no entry").of(tensor_subject(name));
      }
      place->slices.push_back(std::move(slice));
    }
    for (const size_t i : sliced_) {
      const Tensor& tensor = checkpoint_.tensors[i];
      if (tensor.slices.empty()) {
        throw Error(Cause::kInput, "is in slices, but none is there").of(tensor_subject(tensor.name));
      }
    }
  }

 private:
  void take_slice(std::string_view key, std::string_view value) {
    last_slice_ = key;
    std::optional<SliceKey> parsed = parse_slice_key(key);
    if (!parsed) throw Error(Cause::kInput, "is not the key of a slice").of(quoted("key", key));
    const Entry entry =
        in([&] { return tensor_subject(parsed->name); }, [&] { return parse_entry(value, header_.shards); });
    Slice slice{.extents = std::move(parsed->extents), .place = entry.place, .record = value};
    slices_.emplace_back(std::move(parsed->name), std::move(slice));
  }

  // Runs `parse`; an error gets the subject that `subject` makes, which costs more than most entries.
  template <typename Subject, typename Parse>
  static auto in(Subject subject, Parse parse) -> decltype(parse()) {
    try {
      return parse();
    } catch (const Malformed& error) {
      throw Error(Cause::kInput, std::string("entry is ") + error.what()).of(subject());
    } catch (const Error& error) {
      throw error.of(subject());
    }
  }

  Checkpoint& checkpoint_;
  bool first_ = true;
  std::string last_slice_;  // key; those of slices come first
  BundleHeader header_;
  std::vector<size_t> sliced_;  // positions of tensors that say they are in slices
  std::vector<std::pair<std::string, Slice>> slices_;
};

std::string make_header(size_t shards) {
  std::string header, version;
  append_varint_field(header, 1, shards);
  append_varint_field(version, 1, 1);
  append_bytes_field(header, 3, version);
  return header;
}

// The stored header, if it says what is true of the checkpoint; else one with the count replaced.
std::string header_of(const Checkpoint& checkpoint) {
  if (checkpoint.header.empty()) return make_header(checkpoint.shards.size());
  std::string header;
  bool counted = false;
  for (Fields fields(checkpoint.header); fields.next();) {
    if (fields->number == 2) continue;  // what is written is little-endian
    if (fields->number != 1) {
      header += fields->raw;
    } else if (!counted) {
      append_varint_field(header, 1, checkpoint.shards.size());
      counted = true;
    }
  }
  if (!counted && !checkpoint.shards.empty()) {
    std::string first;
    append_varint_field(first, 1, checkpoint.shards.size());
    header.insert(0, first);
  }
  return header;
}

void append_place(std::string& out, const Place& place) {
  if (place.shard != 0) append_varint_field(out, 3, place.shard);
  if (place.offset != 0) append_varint_field(out, 4, place.offset);
  if (place.size != 0) append_varint_field(out, 5, place.size);
  if (place.crc32c == 0) return;
  append_tag(out, 6, Wire::kFixed32);
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(place.crc32c >> shift);
}

bool same_place(std::string_view entry, const Place& place) {
  Place stored;
  for (Fields fields(entry); fields.next();) {
    const Field& field = fields.field();
    if (field.wire == Wire::kVarint && field.number == 3) stored.shard = static_cast<uint32_t>(field.varint);
    if (field.wire == Wire::kVarint && field.number == 4) stored.offset = field.varint;
    if (field.wire == Wire::kVarint && field.number == 5) stored.size = field.varint;
    if (field.wire == Wire::kFixed32 && field.number == 6) stored.crc32c = fixed32(field);
  }
  return stored == place;
}

// What to write for an entry: its own bytes, or `made`.
std::string_view entry_bytes(std::string_view record, const Place& place, std::string& made) {
  if (same_place(record, place)) return record;
  made = with_place(record, place);
  return made;
}

}  // namespace

const Tensor* Checkpoint::find(std::string_view name) const {
  const auto place =
      std::lower_bound(tensors.begin(), tensors.end(), name,
                       [](const Tensor& tensor, std::string_view n) { return tensor.name < n; });
  return place != tensors.end() && place->name == name ? &*place : nullptr;
}

std::string_view Checkpoint::keep(std::string text) {
  auto kept = std::make_shared<const std::string>(std::move(text));
  memory.push_back(kept);
  return *kept;
}

std::string tensor_subject(std::string_view name) { return quoted("tensor", name); }

std::string index_path(std::string_view prefix) { return std::string(prefix) + ".index"; }

std::string shard_path(std::string_view prefix, size_t shard, size_t shards) {
  std::array<char, 64> suffix{};
  std::snprintf(suffix.data(), suffix.size(), ".data-%05zu-of-%05zu", shard, shards);
  return std::string(prefix) + suffix.data();
}

bool is_bundle_header(std::string_view value) {
  try {
    for (Fields fields(value); fields.next();) {
      if (fields->bytes(1)) return false;
    }
  } catch (const Malformed&) {
    return true;  // the reader of bundles says what is wrong
  }
  return true;
}

Checkpoint read_bundle(const std::string& prefix) {
  return read_index(InputFile::open(index_path(prefix)), prefix);
}

Checkpoint read_index(std::shared_ptr<const InputFile> index, const std::string& prefix) {
  Checkpoint checkpoint;
  checkpoint.prefix = prefix;
  checkpoint.memory.push_back(index);
  try {
    const Table table(index);
    IndexReader reader(checkpoint);
    checkpoint.tensors.reserve(index->bytes().size() / kSmallestRecord);  // touched as far as it is filled
    uint64_t key_bytes = 0;
    for (size_t i = 0; i < table.blocks(); ++i) {
      std::string unpacked;
      std::string_view block = table.block(i, unpacked);
      if (!unpacked.empty()) block = checkpoint.keep(std::move(unpacked));
      BlockReader records(block);
      while (records.next()) {
        key_bytes += records.key().size();
        if (key_bytes / kKeyFactor > index->bytes().size() + (size_t{64} << 10)) {
          table.refuse(i, "keys unpack to more than is plausible");
        }
        reader.take(records.key(), records.value());
      }
      if (records.damaged()) table.refuse(i, "is damaged");
    }
    reader.finish();
  } catch (const Error& error) {
    throw error.in(index->path());
  }
  for (Shard& shard : checkpoint.shards) shard.index = index;
  return checkpoint;
}

size_t shards_of_index(std::shared_ptr<const InputFile> index) {
  const Table table(std::move(index));
  std::string unpacked;
  const auto header = table.find("", unpacked);
  return header ? static_cast<size_t>(parse_header(*header).shards) : 0;
}

std::string with_place(std::string_view entry, const Place& place) {
  std::string out;
  bool placed = false;
  for (Fields fields(entry); fields.next();) {
    const uint32_t number = fields->number;
    if (number > 2 && !placed) {
      append_place(out, place);
      placed = true;
    }
    if (number < 3 || number > 6) out += fields->raw;
  }
  if (!placed) append_place(out, place);
  return out;
}

std::string make_entry(DType dtype, const std::vector<int64_t>& shape, const Place& place,
                       const std::vector<Slice>& slices) {
  std::string out;
  append_varint_field(out, 1, static_cast<uint64_t>(static_cast<int64_t>(dtype)));
  append_bytes_field(out, 2, shape_bytes(shape));
  append_place(out, place);
  for (const Slice& slice : slices) append_bytes_field(out, 7, slice_bytes(slice.extents));
  return out;
}

std::vector<uint32_t> order_of(const std::vector<Tensor>& tensors) {
  std::vector<uint32_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0);
  const auto before = [&](uint32_t a, uint32_t b) { return tensors[a].name < tensors[b].name; };
  if (!std::is_sorted(order.begin(), order.end(), before)) std::sort(order.begin(), order.end(), before);
  return order;
}

void put_in_order(std::vector<Tensor>& tensors, std::vector<uint32_t> order) {
  for (uint32_t start = 0; start < order.size(); ++start) {  // cycle by cycle
    if (order[start] == start) continue;
    Tensor first = std::move(tensors[start]);
    uint32_t to = start;
    while (order[to] != start) {
      const uint32_t from = std::exchange(order[to], to);
      tensors[to] = std::move(tensors[from]);
      to = from;
    }
    order[to] = to;
    tensors[to] = std::move(first);
  }
}

void sort_tensors(Checkpoint& checkpoint) {
  put_in_order(checkpoint.tensors, order_of(checkpoint.tensors));
  const auto twin = std::adjacent_find(checkpoint.tensors.begin(), checkpoint.tensors.end(),
                                       [](const Tensor& a, const Tensor& b) { return a.name == b.name; });
  if (twin != checkpoint.tensors.end()) {
    throw Error(Cause::kRefused, "is there twice").of(tensor_subject(twin->name));
  }
}

uint64_t element_count(const std::vector<int64_t>& shape) {
  uint64_t count = 1;
  bool empty = false;
  for (const int64_t size : shape) {
    if (size < 0) throw Error(Cause::kInput, "shape has the size " + std::to_string(size));
    empty = empty || size == 0;
  }
  if (empty) return 0;
  for (const int64_t size : shape) {
    if (count > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / static_cast<uint64_t>(size)) {
      throw Error(Cause::kInput, "shape overflows");
    }
    count *= static_cast<uint64_t>(size);
  }
  return count;
}

bool in_table(const Checkpoint& checkpoint, const Place& place) {
  return place.shard < checkpoint.shards.size() && checkpoint.shards[place.shard].form == Shard::Form::kTable;
}

std::optional<uint64_t> stored_size(const Checkpoint& checkpoint, const Tensor& tensor) {
  const bool table = in_table(checkpoint, tensor.partitioned() ? tensor.slices.front().place : tensor.place);
  if (!table && !tensor.partitioned()) return tensor.place.size;
  if (const size_t width = dtype_width(tensor.dtype); width != 0) {
    const uint64_t count = element_count(tensor.shape);
    if (count > std::numeric_limits<uint64_t>::max() / width) {
      throw Error(Cause::kInput, "shape overflows").of(tensor_subject(tensor.name)).in(checkpoint.prefix);
    }
    return count * width;
  }
  if (table) return std::nullopt;
  uint64_t sum = 0;
  for (const Slice& slice : tensor.slices) sum += slice.place.size;
  return sum;
}

void write_index(const Checkpoint& checkpoint, Sink& out) {
  struct Record {
    std::string key;
    const Tensor* tensor;
    const Slice* slice;
  };
  std::vector<Record> slices;  // their keys come before all names
  for (const Tensor& tensor : checkpoint.tensors) {
    for (const Slice& slice : tensor.slices)
      slices.push_back({slice_key(tensor.name, slice.extents), &tensor, &slice});
  }
  std::sort(slices.begin(), slices.end(), [](const Record& a, const Record& b) { return a.key < b.key; });

  TableWriter table(out);
  std::string made;
  table.add("", header_of(checkpoint));
  for (const Record& record : slices) {
    const Slice& slice = *record.slice;
    if (slice.record.empty()) {
      std::vector<int64_t> shape;
      const Extents settled = settle_extents(slice.extents, record.tensor->shape).value_or(Extents{});
      for (const Extent& extent : settled) shape.push_back(extent.length);
      table.add(record.key, make_entry(record.tensor->dtype, shape, slice.place));
    } else {
      table.add(record.key, entry_bytes(slice.record, slice.place, made));
    }
  }
  for (const Tensor& tensor : checkpoint.tensors) {
    if (tensor.record.empty()) {
      table.add(tensor.name, make_entry(tensor.dtype, tensor.shape, tensor.place, tensor.slices));
    } else {
      table.add(tensor.name, entry_bytes(tensor.record, tensor.place, made));
    }
  }
  table.finish();
}

}  // namespace gedit
