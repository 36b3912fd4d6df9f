#include "checkpoint/v1.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/error.h"
#include "base/wire.h"
#include "checkpoint/proto.h"
#include "checkpoint/values.h"

namespace gedit {
namespace {

enum class As : uint8_t { kFixed, kVarint, kBool };

// Which list of a TensorProto holds a type, and how (tensorflow/core/util/saved_tensor_slice_util.h).
struct List {
  uint32_t field = 0;
  As as = As::kFixed;
  size_t width = 0;  // of a number, in the message (kFixed) and in memory
};

List list_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return {5, As::kFixed, 4};
    case DType::kDouble:
      return {6, As::kFixed, 8};
    case DType::kInt32:
    case DType::kQint32:
      return {7, As::kVarint, 4};
    case DType::kInt16:
    case DType::kUint16:
    case DType::kQint16:
    case DType::kQuint16:
      return {7, As::kVarint, 2};
    case DType::kInt8:
    case DType::kUint8:
    case DType::kQint8:
    case DType::kQuint8:
      return {7, As::kVarint, 1};
    case DType::kComplex64:
      return {9, As::kFixed, 4};
    case DType::kInt64:
      return {10, As::kVarint, 8};
    case DType::kBool:
      return {11, As::kBool, 1};
    case DType::kComplex128:
      return {12, As::kFixed, 8};
    case DType::kHalf:
    case DType::kBfloat16:
      return {13, As::kVarint, 2};
    case DType::kUint32:
      return {16, As::kVarint, 4};
    case DType::kUint64:
      return {17, As::kVarint, 8};
    default:
      throw Error(Cause::kInput, "a checkpoint of this age holds no " + dtype_name(dtype));
  }
}

void append_number(std::string& out, const List& list, uint64_t value) {
  if (list.as == As::kBool) value = value != 0 ? 1 : 0;
  out.append(reinterpret_cast<const char*>(&value), list.width);
}

// The numbers of a TensorProto, packed or one a field.
std::string numbers(std::string_view proto, const List& list, uint64_t most) {
  std::string out;
  for (Fields fields(proto); fields.next();) {
    const Field& field = fields.field();
    if (field.number != list.field) continue;
    if (list.as == As::kFixed) {
      out += field.value;  // packed or not, the same little-endian bytes
    } else {
      each_varint(field, [&](uint64_t value) { append_number(out, list, value); });
    }
    if (out.size() > most) break;
  }
  return out;
}

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
    if (field.bytes(2)) found.shape = parse_shape(field.value);
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
  const std::string_view proto = last_bytes(last_bytes(*value, 2), 3);
  if (dtype == DType::kString) {
    std::vector<std::string_view> strings;
    for (Fields fields(proto); fields.next();) {
      if (fields->bytes(8)) strings.push_back(fields->value);
    }
    if (strings.size() != elements)
      throw Error(Cause::kInput, "holds another number of strings than its shape");
    return string_bytes(strings);
  }
  const size_t width = dtype_width(dtype);
  const List list = list_of(dtype);
  std::string bytes = numbers(proto, list, value->size() * 8);
  if (bytes.size() / width != elements || bytes.size() % width != 0) {
    throw Error(Cause::kInput, "holds " + std::to_string(bytes.size() / width) + " elements, its shape has " +
                                   std::to_string(elements));
  }
  return bytes;
} catch (const Malformed& error) {
  throw Error(Cause::kInput, std::string("its values are ") + error.what()).in(table.file().path());
}

}  // namespace gedit
