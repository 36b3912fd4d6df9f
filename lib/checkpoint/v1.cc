#include "checkpoint/v1.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/wire.h"
#include "checkpoint/proto.h"
#include "checkpoint/tensor_proto.h"

namespace gedit {
namespace {

std::string_view meta_of(const Table& table, std::string& unpacked) {
  const auto value = table.find("", unpacked);
  if (!value) throw Error(Cause::kInput, "has no list of its tensors").in(table.file().path());
  return last_bytes(*value, 1);
}

// Joins what one file says of a tensor to what others said.
void take_tensor(std::string_view message, uint32_t shard, Checkpoint& checkpoint,
                 std::map<std::string, Tensor, std::less<>>& tensors) {
  std::string name;
  Tensor found;
  std::vector<Extents> extents;
  for (Fields fields(message); fields.next();) {
    const Field& field = fields.field();
    if (field.bytes(1)) name = field.value;
    if (field.bytes(2)) found.shape = entry_shape(field.value);
    if (field.number == 3 && field.wire == Wire::kVarint) {
      found.dtype = static_cast<DType>(static_cast<int32_t>(field.varint));
    }
    if (field.bytes(4)) extents.push_back(parse_slice(field.value));
  }
  try {
    element_count(found.shape);
    if (name.empty()) throw Error(Cause::kInput, "a tensor has no name");
    const auto [place, fresh] = tensors.try_emplace(name, found);
    Tensor& tensor = place->second;
    if (!fresh && (tensor.dtype != found.dtype || tensor.shape != found.shape)) {
      throw Error(Cause::kInput, "has another type or shape in another file");
    }
    tensor.name = name;
    for (Extents& slice : extents) {
      const auto settled = settle_extents(slice, tensor.shape);
      if (!settled) throw Error(Cause::kInput, "slice " + slice_text(slice) + " leaves the shape");
      const std::string_view key = checkpoint.keep(slice_key(name, slice));
      tensor.slices.push_back({.extents = std::move(slice), .place = {.shard = shard}, .record = key});
    }
  } catch (const Error& error) {
    throw error.of(tensor_subject(name));
  }
}

// A tensor in one slice that is all of it is stored whole.
void settle(Tensor& tensor) {
  std::sort(tensor.slices.begin(), tensor.slices.end(),
            [](const Slice& a, const Slice& b) { return a.record < b.record; });
  const auto twin = std::adjacent_find(tensor.slices.begin(), tensor.slices.end(),
                                       [](const Slice& a, const Slice& b) { return a.record == b.record; });
  if (twin != tensor.slices.end())
    throw Error(Cause::kInput, "slice " + slice_text(twin->extents) + " is there twice");
  if (tensor.slices.empty()) throw Error(Cause::kInput, "has no slices");
  const Slice& first = tensor.slices.front();
  if (tensor.slices.size() > 1) return;
  const Extents settled = settle_extents(first.extents, tensor.shape).value_or(Extents{});
  for (size_t i = 0; i < settled.size(); ++i) {
    if (settled[i].length != tensor.shape[i]) return;
  }
  tensor.place = first.place;
  tensor.record = first.record;
  tensor.slices.clear();
}

}  // namespace

Checkpoint read_v1(const std::vector<std::string>& files, const std::string& prefix) {
  Checkpoint checkpoint;
  checkpoint.prefix = prefix;
  checkpoint.version = 1;
  std::map<std::string, Tensor, std::less<>> tensors;
  for (const std::string& path : files) {
    Shard& shard = checkpoint.shards.emplace_back();
    shard.form = Shard::Form::kTable;
    shard.path = path;
    const auto table = std::make_shared<const Table>(InputFile::open(path));
    shard.table = table;
    std::string unpacked;
    try {
      for (Fields fields(meta_of(*table, unpacked)); fields.next();) {
        if (!fields->bytes(1)) continue;
        take_tensor(fields->value, static_cast<uint32_t>(checkpoint.shards.size() - 1), checkpoint, tensors);
      }
    } catch (const Malformed& error) {
      throw Error(Cause::kInput, std::string("its list of tensors is ") + error.what()).in(path);
    } catch (const Error& error) {
      throw error.in(path);
    }
  }
  for (auto& [name, tensor] : tensors) {
    try {
      settle(tensor);
    } catch (const Error& error) {
      throw error.of(tensor_subject(name)).in(prefix);
    }
    checkpoint.tensors.push_back(std::move(tensor));
  }
  return checkpoint;
}

std::string v1_values(const Table& table, std::string_view key, DType dtype, uint64_t elements) try {
  std::string unpacked;
  const auto value = table.find(key, unpacked);
  if (!value) throw Error(Cause::kInput, "its values are not there");
  return tensor_proto_values(last_bytes(last_bytes(*value, 2), 3), dtype, elements, true);
} catch (const Malformed& error) {
  throw Error(Cause::kInput, std::string("its values are ") + error.what()).in(table.file().path());
}

}  // namespace gedit
