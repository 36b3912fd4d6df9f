// Checkpoints: which tensors there are and where their bytes lie. Values stay in their files; an edit of a
// checkpoint is an edit of this.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "checkpoint/slice_key.h"
#include "checkpoint/table.h"
#include "graph/dtype.h"

namespace gedit {

inline constexpr std::string_view kObjectGraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH";

// Where bytes lie. Several tensors may have the same place.
struct Place {
  uint32_t shard = 0;   // position in Checkpoint::shards
  uint64_t offset = 0;  // in bytes
  uint64_t size = 0;    // in bytes
  uint32_t crc32c = 0;  // masked, as stored; 0 in a shard of tables
  auto operator<=>(const Place&) const = default;
};

// A part of a partitioned tensor, stored under a key of its own.
struct Slice {
  Extents extents;
  Place place;
  std::string_view record;  // as Tensor::record
};

struct Tensor {
  std::string name;  // the key
  DType dtype = DType::kInvalid;
  std::vector<int64_t> shape;
  Place place;                // means nothing where there are slices
  std::vector<Slice> slices;  // in the order of their keys; empty: stored whole
  // The BundleEntryProto as stored, to be kept but for the place (unknown fields included); in a shard of
  // tables the key of the record that holds the values. Empty: made anew.
  std::string_view record;

  bool partitioned() const { return !slices.empty(); }
};

// A data file.
struct Shard {
  enum class Form : uint8_t {
    kData,       // bytes of tensors, little-endian
    kBigEndian,  // the same, numbers the other way round
    kTable,      // saved tensor slices: the checkpoints of TensorFlow 0.x (V1)
    kMemory,     // small, in `bytes`
  };
  Form form = Form::kData;
  std::string path;
  std::string bytes;
  std::shared_ptr<const Table> table;
  std::shared_ptr<const InputFile> index;  // that names it; none where it was not read from an index
  std::shared_ptr<OutputFile> made;        // where it is complete, and has no name yet
};

// The tensors are in ascending order of their names, each name once. Views (records, the header) lie in
// `memory`.
struct Checkpoint {
  std::string prefix;  // as messages name it
  int version = 2;     // 1: read from saved tensor slices
  std::vector<Shard> shards;
  std::vector<Tensor> tensors;
  std::string_view header;  // BundleHeaderProto as stored; empty: made anew
  std::vector<std::shared_ptr<const void>> memory;

  const Tensor* find(std::string_view name) const;
  bool object_based() const { return find(kObjectGraphKey) != nullptr; }

  // Keeps the text for as long as the checkpoint, or a copy of it, lives.
  std::string_view keep(std::string text);
};

// `tensor 'NAME'`, for messages.
std::string tensor_subject(std::string_view name);

// PREFIX.index and PREFIX.data-SSSSS-of-NNNNN.
std::string index_path(std::string_view prefix);
std::string shard_path(std::string_view prefix, size_t shard, size_t shards);

// Reads PREFIX.index (V2); data files are not opened. Throws Error (kInput) for an index that is damaged or
// makes no sense: keys out of order, absurd counts, shapes that overflow.
Checkpoint read_bundle(const std::string& prefix);
// The same from an index that is open already.
Checkpoint read_index(const std::shared_ptr<const InputFile>& index, const std::string& prefix);

// Number of data files that an index names. Throws Error (kInput) as read_index().
size_t shards_of_index(std::shared_ptr<const InputFile> index);

// Whether the header (the value of the first key, which is empty) is that of a V2 index; else it is V1.
bool is_bundle_header(std::string_view value);

// Writes the index. Entries whose place is as stored keep their bytes; an unedited index of TensorFlow comes
// out as it was. All shards must be of form kData. Throws Error (kRefused) for a name that is there twice.
void write_index(const Checkpoint& checkpoint, Sink& out);

// A BundleEntryProto with another place; everything else is kept, unknown fields included.
std::string with_place(std::string_view entry, const Place& place);
std::string make_entry(DType dtype, const std::vector<int64_t>& shape, const Place& place,
                       const std::vector<Slice>& slices = {});

// The positions of the tensors by name; the tensors put at them, each moved once.
std::vector<uint32_t> order_of(const std::vector<Tensor>& tensors);
void put_in_order(std::vector<Tensor>& tensors, std::vector<uint32_t> order);

// Sorts the tensors by name. Throws Error (kRefused) where two have one name.
void sort_tensors(Checkpoint& checkpoint);

// Number of elements. Throws Error (kInput) where it overflows or a size is negative.
uint64_t element_count(const std::vector<int64_t>& shape);

// Whether the place is in a file of saved tensor slices (V1), where bytes have no offset and no size.
bool in_table(const Checkpoint& checkpoint, const Place& place);

// Bytes of the values in V2 form; nothing for types without a width that are not stored yet (V1 strings).
std::optional<uint64_t> stored_size(const Checkpoint& checkpoint, const Tensor& tensor);

}  // namespace gedit
