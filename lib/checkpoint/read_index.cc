// Reads an index: its blocks on all cores, as far as they hold ordinary tensors in order; what else there may
// be, and every fault, is found record by record.
#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "base/wire.h"
#include "checkpoint/bundle.h"
#include "checkpoint/proto.h"

namespace gedit {
namespace {

constexpr uint64_t kMostShards = 99999;  // five digits in a name
constexpr size_t kSmallestRecord = 32;   // bytes, about
constexpr uint64_t kKeyFactor = 64;      // names may unpack to this many times the index, plus a little
constexpr uint64_t kLittle = uint64_t{64} << 10;

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

Tensor tensor_of(std::string_view key, std::string_view value, Entry entry) {
  Tensor tensor;
  tensor.name = key;
  tensor.record = value;
  tensor.dtype = entry.dtype;
  tensor.shape = std::move(entry.shape);
  tensor.place = entry.place;
  return tensor;
}

// A block of the index as a thread of several reads it; without tensors where it is not ordinary.
struct ReadBlock {
  std::vector<Tensor> tensors;
  uint64_t key_bytes = 0;
  std::shared_ptr<const std::string> unpacked;  // that the tensors' records lie in, or null
};

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
    if (key <= last()) {
      throw Error(Cause::kInput, key == last() ? "is there twice" : "is out of order").of(quoted("key", key));
    }
    if (is_slice_key(key)) return take_slice(key, value);
    Entry entry = in([&] { return tensor_subject(key); }, [&] { return parse_entry(value, header_.shards); });
    if (entry.sliced) sliced_.push_back(checkpoint_.tensors.size());
    checkpoint_.tensors.push_back(tensor_of(key, value, std::move(entry)));
  }

  // Of the header, once it is taken.
  uint64_t shards() const { return header_.shards; }

  // Whether the block has ordinary tensors that come behind what was taken; then they are taken.
  bool take(ReadBlock& block) {
    if (first_ || block.tensors.empty() || block.tensors.front().name <= last()) return false;
    std::ranges::move(block.tensors, std::back_inserter(checkpoint_.tensors));
    if (block.unpacked != nullptr) checkpoint_.memory.push_back(std::move(block.unpacked));
    return true;
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
  std::string_view last() const {
    return checkpoint_.tensors.empty() ? std::string_view(last_slice_) : checkpoint_.tensors.back().name;
  }

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

// What else than ordinary tensors in order a block may hold, a fault too, is for IndexReader.
ReadBlock read_block(const Table& table, size_t i, uint64_t shards) try {
  ReadBlock read;
  std::string unpacked;
  std::string_view block = table.block(i, unpacked);
  if (!unpacked.empty()) {
    read.unpacked = std::make_shared<const std::string>(std::move(unpacked));
    block = *read.unpacked;
  }
  read.tensors.reserve(block.size() / kSmallestRecord);
  BlockReader records(block);
  while (records.next()) {
    const std::string_view key = records.key();
    read.key_bytes += key.size();
    if (is_slice_key(key) || (!read.tensors.empty() && key <= read.tensors.back().name) ||
        read.key_bytes > kKeyFactor * (block.size() + kLittle))
      return {};
    Entry entry = parse_entry(records.value(), shards);
    if (entry.sliced) return {};
    read.tensors.push_back(tensor_of(key, records.value(), std::move(entry)));
  }
  if (records.damaged()) return {};
  return read;
} catch (const Error&) {
  return {};
}

}  // namespace

Checkpoint read_bundle(const std::string& prefix) {
  return read_index(InputFile::open(index_path(prefix)), prefix);
}

Checkpoint read_index(const std::shared_ptr<const InputFile>& index, const std::string& prefix) {
  Checkpoint checkpoint;
  checkpoint.prefix = prefix;
  checkpoint.memory.push_back(index);
  try {
    const Table table(index);
    IndexReader reader(checkpoint);
    checkpoint.tensors.reserve(index->bytes().size() / kSmallestRecord);  // touched as far as it is filled
    uint64_t key_bytes = 0;
    const uint64_t most_key_bytes = kKeyFactor * (index->bytes().size() + kLittle);
    const auto take = [&](size_t i) {
      std::string unpacked;
      std::string_view block = table.block(i, unpacked);
      if (!unpacked.empty()) block = checkpoint.keep(std::move(unpacked));
      BlockReader records(block);
      while (records.next()) {
        key_bytes += records.key().size();
        if (key_bytes > most_key_bytes) table.refuse(i, "keys unpack to more than is plausible");
        reader.take(records.key(), records.value());
      }
      if (records.damaged()) table.refuse(i, "is damaged");
    };
    if (table.blocks() > 0) take(0);  // the header, which the others need
    Places<ReadBlock> read(places_for(table.blocks()));
    in_order(
        std::max<size_t>(table.blocks(), 1) - 1,
        [&, shards = reader.shards()](size_t i, size_t place) {
          read[place] = read_block(table, i + 1, shards);
        },
        [&, next = size_t{1}](size_t place) mutable {
          ReadBlock& block = read[place];
          const size_t i = next++;
          if (key_bytes + block.key_bytes > most_key_bytes || !reader.take(block)) return take(i);
          key_bytes += block.key_bytes;
        });
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

}  // namespace gedit
