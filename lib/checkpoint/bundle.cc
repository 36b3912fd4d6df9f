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
