#include "weights/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/utf8.h"
#include "checkpoint/bundle.h"
#include "weights/small_numbers.h"

namespace gedit {
namespace {

constexpr uint64_t kMostHeader = 100'000'000;  // bytes: what the format's own reader takes
constexpr size_t kLengthBytes = 8;
constexpr std::string_view kMetadata = "__metadata__";

struct TypeName {
  DType dtype;
  std::string_view name;
};
constexpr std::array kTypeNames{
    TypeName{DType::kDouble, "F64"},    TypeName{DType::kFloat, "F32"},   TypeName{DType::kHalf, "F16"},
    TypeName{DType::kBfloat16, "BF16"}, TypeName{DType::kInt64, "I64"},   TypeName{DType::kInt32, "I32"},
    TypeName{DType::kInt16, "I16"},     TypeName{DType::kInt8, "I8"},     TypeName{DType::kUint64, "U64"},
    TypeName{DType::kUint32, "U32"},    TypeName{DType::kUint16, "U16"},  TypeName{DType::kUint8, "U8"},
    TypeName{DType::kBool, "BOOL"},     TypeName{kFloat8E5m2, "F8_E5M2"}, TypeName{kFloat8E4m3fn, "F8_E4M3"},
};

struct HeaderEntry {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  std::vector<uint64_t> offsets;
};

// What the header may be, and nothing else: {NAME: {"dtype": S, "shape": [N..], "data_offsets": [B, E]}..,
// "__metadata__": {S: S..}}.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<HeaderEntry> entries;
  std::string fault;

  bool null() override { return stray("null"); }
  bool boolean(bool) override { return stray("a boolean"); }
  bool number_float(double, const std::string&) override { return stray("a fraction"); }
  bool binary(nlohmann::json::binary_t&) override { return stray("bytes"); }
  bool number_integer(std::int64_t) override { return stray("a negative number"); }

  bool number_unsigned(std::uint64_t number) override {
    if (!in_list_) return stray("a number");
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return refuse("a number is too large");
    if (key_ == "shape") {
      entries.back().shape.push_back(static_cast<int64_t>(number));
      if (entries.back().shape.size() > kMostDimensions) return refuse("a shape has too many dimensions");
    } else {
      entries.back().offsets.push_back(number);
      if (entries.back().offsets.size() > 2) return refuse("data_offsets are not two");
    }
    return true;
  }

  bool string(std::string& text) override {
    if (depth_ == 2 && metadata_) return true;
    if (depth_ != 2 || in_list_ || key_ != "dtype") return stray("a string");
    entries.back().dtype = text;
    return true;
  }

  bool start_object(std::size_t) override {
    if (in_list_ || depth_ == 2 || metadata_) return stray("an object");
    if (++depth_ == 1) return true;
    keys_.clear();
    metadata_ = key_ == kMetadata;
    if (!metadata_) entries.push_back({key_, {}, {}, {}});
    return true;
  }

  bool key(std::string& text) override {
    key_ = text;
    std::set<std::string>& known = depth_ == 1 ? names_ : keys_;
    if (!known.insert(text).second) return refuse(quoted("key", text) + " is there twice");
    if (depth_ == 2 && !metadata_ && text != "dtype" && text != "shape" && text != "data_offsets")
      return refuse(quoted("key", text) + " is not known");
    return true;
  }

  bool end_object() override {
    if (depth_ == 2 && !metadata_ && keys_.size() != 3)
      return refuse("has not all of dtype, shape and data_offsets");
    metadata_ = false;
    --depth_;
    return true;
  }

  bool start_array(std::size_t) override {
    if (depth_ != 2 || metadata_ || in_list_ || key_ == "dtype") return stray("an array");
    in_list_ = true;
    return true;
  }

  bool end_array() override {
    in_list_ = false;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return refuse("is not valid JSON at byte " + std::to_string(kLengthBytes + position));
  }

 private:
  bool refuse(const std::string& what) {
    fault = what;
    if (depth_ == 2 && !metadata_ && !entries.empty())
      fault = tensor_subject(entries.back().name) + " " + what;
    return false;
  }
  bool stray(const char* what) { return refuse(std::string("has ") + what + " where none belongs"); }

  int depth_ = 0;
  bool in_list_ = false, metadata_ = false;
  std::string key_;
  std::set<std::string> names_, keys_;
};

DType type_of(const std::string& name) {
  for (const TypeName& row : kTypeNames) {
    if (row.name == name) return row.dtype;
  }
  throw Error(Cause::kInput, "its type " + printable(name) + " is not known here");
}

uint64_t header_length(std::string_view bytes) {
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  return length;
}

std::string header_text(const std::vector<const Weight*>& order) {
  std::string text = R"({"__metadata__":{"format":"tf"})";
  uint64_t at = 0;
  for (const Weight* weight : order) {
    text += ",";
    text += nlohmann::json(weight->name).dump();
    text += R"(:{"dtype":")";
    text += *safetensors_type(weight->dtype);
    text += R"(","shape":[)";
    for (size_t i = 0; i < weight->shape.size(); ++i) {
      if (i != 0) text += ',';
      text += std::to_string(weight->shape[i]);
    }
    text += R"(],"data_offsets":[)" + std::to_string(at);
    at += weight->values->size();
    text += ',';
    text += std::to_string(at);
    text += "]}";
  }
  text += '}';
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace

std::optional<std::string_view> safetensors_type(DType dtype) {
  for (const TypeName& row : kTypeNames) {
    if (row.dtype == dtype) return row.name;
  }
  return std::nullopt;
}

bool looks_like_safetensors(std::string_view bytes) {
  return bytes.size() > kLengthBytes && bytes[kLengthBytes] == '{' && (header_length(bytes) >> 40) == 0;
}

Weights read_safetensors(const std::shared_ptr<const InputFile>& file) try {
  const std::string_view bytes = file->bytes();
  if (bytes.size() < kLengthBytes) throw Error(Cause::kInput, "is cut short: no length of a header");
  const uint64_t length = header_length(bytes);
  if (length > kMostHeader)
    throw Error(Cause::kInput, "has a header of " + std::to_string(length) + " bytes, at most " +
                                   std::to_string(kMostHeader) + " are read");
  if (length > bytes.size() - kLengthBytes) throw Error(Cause::kInput, "is cut short within its header");
  const std::string_view header = bytes.substr(kLengthBytes, length);
  HeaderReader reader;
  if (!nlohmann::json::sax_parse(header.begin(), header.end(), &reader)) {
    throw Error(Cause::kInput, "header: " + (reader.fault.empty() ? "is not valid JSON" : reader.fault));
  }
  std::vector<HeaderEntry>& entries = reader.entries;
  std::sort(entries.begin(), entries.end(),
            [](const HeaderEntry& a, const HeaderEntry& b) { return a.offsets < b.offsets; });
  Weights weights;
  weights.path = file->path();
  uint64_t at = 0;
  const uint64_t all = bytes.size() - kLengthBytes - length;
  for (HeaderEntry& entry : entries) {
    try {
      Weight weight{entry.name, type_of(entry.dtype), entry.shape, nullptr};
      const uint64_t size = size_of_numbers(weight.dtype, weight.shape);
      if (entry.offsets.size() != 2 || entry.offsets[1] < entry.offsets[0])
        throw Error(Cause::kInput, "data_offsets are no range");
      if (entry.offsets[0] != at) {
        throw Error(Cause::kInput, entry.offsets[0] < at ? "its bytes overlap those of another tensor"
                                                         : "its bytes leave a hole before them");
      }
      if (entry.offsets[1] - at != size) {
        throw Error(Cause::kInput, std::to_string(entry.offsets[1] - at) +
                                       " bytes are stored, its shape and type take " + std::to_string(size));
      }
      if (size > all - at) throw Error(Cause::kInput, "the file is cut short within its bytes");
      weight.values = file_values(file, kLengthBytes + length + at, size);
      at += size;
      weights.weights.push_back(std::move(weight));
    } catch (const Error& error) {
      throw error.of(tensor_subject(entry.name));
    }
  }
  if (at != all) throw Error(Cause::kInput, std::to_string(all - at) + " bytes follow the last tensor");
  sort_weights(weights);
  return weights;
} catch (const Error& error) {
  throw error.in(file->path());
}

void write_safetensors(const Weights& weights, const std::string& path, bool overwrite,
                       const Overflowed& overflowed) {
  std::vector<const Weight*> order;
  for (const Weight& weight : weights.weights) {
    if (weight.values == nullptr || !safetensors_type(weight.dtype))
      throw refused("safetensors has no type for " + dtype_name(weight.dtype))
          .of(tensor_subject(weight.name));
    if (weight.name == kMetadata || !valid_utf8(weight.name))
      throw refused("safetensors takes no such name").of(tensor_subject(weight.name)).hint("--map OLD=NEW");
    order.push_back(&weight);
  }
  std::stable_sort(order.begin(), order.end(), [](const Weight* a, const Weight* b) {
    return dtype_width(a->dtype) > dtype_width(b->dtype);
  });
  const std::string header = header_text(order);
  if (header.size() > kMostHeader) throw refused("the header would be over 100 MB").in(path);
  OutputFile out(path, overwrite);
  const uint64_t length = header.size();
  std::string head(reinterpret_cast<const char*>(&length), sizeof length);
  head += header;
  out.write_at(0, head);
  uint64_t at = head.size();
  std::vector<Streamed> items;
  for (const Weight* weight : order) {
    items.push_back({.values = weight->values,
                     .out = &out,
                     .at = at,
                     .subject = tensor_subject(weight->name),
                     .file = weights.path});
    at += weight->values->size();
  }
  stream(items, overflowed);
  out.end_at(at);
  out.commit();
}

}  // namespace gedit
