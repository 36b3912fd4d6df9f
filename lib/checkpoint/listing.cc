#include "checkpoint/listing.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/wire.h"
#include "checkpoint/proto.h"
#include "checkpoint/tensor_proto.h"
#include "checkpoint/values.h"
#include "graph/listing.h"
#include "graph/listing_text.h"

namespace gedit {
namespace {

constexpr std::string_view kSuffix = ".ckpt.gtxt";

class ListingReader {
 public:
  ListingReader(std::string_view text, const std::string& file) : scanner_(text, file) {
    checkpoint_.prefix = file.substr(0, file.size() - std::string_view(".gtxt").size());
  }

  Checkpoint read() {
    for (scanner_.skip_lines(); !scanner_.at_end(); scanner_.skip_lines()) {
      const size_t start = scanner_.position();
      std::string store;
      const std::string name(scanner_.name(store, "the name of a tensor"));
      if (scanner_.accept('=')) {
        take_tensor(name, start);
      } else if (name == "shard") {
        checkpoint_.shards.emplace_back().form = Shard::Form::kMemory;
      } else if (name == "object_graph") {
        take_object_graph();
      } else {
        scanner_.fail_at(start, "neither NAME = tensor(...), nor shard, nor object_graph");
      }
      scanner_.end_line();
    }
    if (checkpoint_.shards.empty()) checkpoint_.shards.emplace_back().form = Shard::Form::kMemory;
    for (auto& [name, tensor] : partitioned_) checkpoint_.tensors.push_back(std::move(tensor));
    for (Tensor& tensor : checkpoint_.tensors) {
      std::sort(tensor.slices.begin(), tensor.slices.end(), [&](const Slice& a, const Slice& b) {
        return slice_key(tensor.name, a.extents) < slice_key(tensor.name, b.extents);
      });
    }
    try {
      sort_tensors(checkpoint_);
    } catch (const Error& error) {
      throw Error(Cause::kInput, error.message()).of(error.subject()).in(scanner_.file());
    }
    return std::move(checkpoint_);
  }

 private:
  void take_tensor(const std::string& name, size_t start) {
    if (name.empty() || is_slice_key(name)) scanner_.fail_at(start, "not a name for a tensor");
    const std::string proto = parse_tensor(scanner_);
    const auto dtype = static_cast<DType>(last_varint(proto, 1));
    try {
      const std::vector<int64_t> shape = entry_shape(last_bytes(proto, 2));
      const std::string values = tensor_proto_values(proto, dtype, element_count(shape), false);
      if (scanner_.accept_word("slice")) {
        take_slice(name, dtype, shape, values);
      } else {
        add_tensor(checkpoint_, name, dtype, shape, values);
      }
    } catch (const Error& error) {
      if (!error.file().empty()) throw;
      scanner_.fail_at(start, error.what());
    }
  }

  void take_slice(const std::string& name, DType dtype, const std::vector<int64_t>& shape,
                  const std::string& values) {
    std::string store;
    const auto spec = parse_slice_spec(scanner_.quoted(store, "a slice"));
    if (!spec) throw Error(Cause::kInput, "not a slice (SIZES START,LENGTH:..)");
    const Extents extents = settle_extents(spec->extents, spec->shape).value_or(Extents{});
    std::vector<int64_t> lengths;
    for (const Extent& extent : extents) lengths.push_back(extent.length);
    const size_t width = dtype_width(dtype);
    if (width == 0) throw Error(Cause::kInput, "only numbers are stored in slices");
    if (shape != spec->shape && shape != lengths)
      throw Error(Cause::kInput, "has another shape than its slice");
    add_tensor(checkpoint_, name, dtype, lengths,
               shape == spec->shape ? slice_of(values, shape, extents, width) : values);
    const Place place = checkpoint_.tensors.back().place;
    checkpoint_.tensors.pop_back();
    Tensor& tensor = partitioned_[name];
    if (tensor.slices.empty()) {
      tensor.name = name;
      tensor.dtype = dtype;
      tensor.shape = spec->shape;
    }
    if (tensor.dtype != dtype || tensor.shape != spec->shape) {
      throw Error(Cause::kInput, "has another type or shape than its other slices");
    }
    tensor.slices.push_back({.extents = spec->extents, .place = place, .record = {}});
  }

  void take_object_graph() {
    const std::string bytes = parse_block(scanner_, TextMessage::kTrackableObjectGraph);
    add_tensor(checkpoint_, std::string(kObjectGraphKey), DType::kString, {}, string_bytes({bytes}));
  }

  Scanner scanner_;
  Checkpoint checkpoint_;
  std::map<std::string, Tensor> partitioned_;
};

}  // namespace

bool is_checkpoint_listing(std::string_view path) { return path.ends_with(kSuffix); }

Checkpoint parse_checkpoint_listing(std::string_view text, const std::string& file) {
  return ListingReader(text, file).read();
}

}  // namespace gedit
