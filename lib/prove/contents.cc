#include "prove/contents.h"

#include <algorithm>
#include <cstring>

#include "base/crc32c.h"
#include "base/packed.h"
#include "graph/listing.h"
#include "graph/name_hash.h"
#include "graph/tensor_layout.h"
#include "graph/types.h"

namespace gedit {
namespace {

constexpr uint32_t kProofDtypeField = 1, kProofShapeField = 2, kProofContentField = 4;  // TensorProto
constexpr size_t kShort = 256;  // bytes of elements that are a key themselves

std::string type_key(DType dtype, const std::vector<int64_t>& shape) {
  std::string key;
  append_varint(key, static_cast<uint64_t>(static_cast<int32_t>(dtype)));
  append_varint(key, shape.size());
  for (const int64_t size : shape) append_varint(key, static_cast<uint64_t>(size));
  return key;
}

// Nothing where a size is not known or the number overflows.
std::optional<uint64_t> elements_in(const std::vector<int64_t>& shape) {
  uint64_t count = 1;
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, static_cast<uint64_t>(size), &count)) return std::nullopt;
  }
  return count;
}

// Without the elements at the end that repeat the last one.
std::string_view unrepeated(std::string_view elements, size_t width) {
  size_t size = elements.size();
  while (size >= 2 * width &&
         elements.substr(size - width, width) == elements.substr(size - 2 * width, width)) {
    size -= width;
  }
  return elements.substr(0, size);
}

// Compares what is written with elements of which the last one repeats to the end.
class Comparing final : public Sink {
 public:
  Comparing(std::string_view elements, size_t width) : elements_(elements), width_(width) {}
  void write(std::string_view bytes) override {
    const size_t direct = std::min(bytes.size(), elements_.size() - std::min(at_, elements_.size()));
    same_ = same_ && bytes.substr(0, direct) == elements_.substr(std::min(at_, elements_.size()), direct);
    for (size_t i = direct; i < bytes.size() && same_; ++i)
      same_ = bytes[i] == elements_[elements_.size() - width_ + (at_ + i - elements_.size()) % width_];
    at_ += bytes.size();
  }
  bool same() const { return same_; }

 private:
  std::string_view elements_;
  size_t width_;
  size_t at_ = 0;
  bool same_ = true;
};

}  // namespace

// What the *_val field of the dtype holds, cut to `count` elements; false where the type has none.
bool Contents::typed_elements(std::string_view tensor_proto, Content& content, uint64_t count) {
  const TensorLayout layout = tensor_layout(content.dtype);
  if (layout.field == 0) return false;
  std::string elements;
  if (content.dtype == DType::kString) {
    std::vector<std::string_view> strings;
    for (Fields fields(tensor_proto); fields.next();) {
      if (fields->bytes(layout.field) && strings.size() < count) strings.push_back(fields->value);
    }
    if (strings.empty()) strings.emplace_back();
    while (strings.size() > 1 && strings[strings.size() - 1] == strings[strings.size() - 2])
      strings.pop_back();
    for (const std::string_view text : strings) {
      append_varint(elements, text.size());
      elements += text;
    }
    content.elements = arena_.keep(std::move(elements));
    return true;
  }
  const size_t width = dtype_width(content.dtype);
  if (width == 0 || layout.width == 0) return false;
  const bool bytes = layout.field == TensorLayout::kFloat8Field;
  for (Fields fields(tensor_proto); fields.next();) {
    if (fields->number != layout.field) continue;
    if (bytes && fields->wire == Wire::kBytes) {
      elements = fields->value;
    } else if (fields->wire == Wire::kBytes) {
      for (Packed numbers(fields->value, tensor_wire(layout.field)); numbers.next();) {
        const uint64_t number =
            content.dtype == DType::kBool ? (numbers.value() != 0 ? 1 : 0) : numbers.value();
        append_little_endian(elements, number, layout.width);
      }
    } else if (fields->wire == Wire::kVarint) {
      append_little_endian(elements,
                           content.dtype == DType::kBool ? (fields->varint != 0 ? 1 : 0) : fields->varint,
                           layout.width);
    } else if (fields->wire == Wire::kFixed32 || fields->wire == Wire::kFixed64) {
      append_little_endian(elements, little_endian(fields->value), layout.width);
    }
  }
  elements.resize(elements.size() / width * width);
  if (elements.size() / width > count) elements.resize(count * width);
  if (elements.empty()) elements.assign(width, '\0');
  elements.resize(unrepeated(elements, width).size());
  content.elements = arena_.keep(std::move(elements));
  return true;
}

Contents::Content Contents::taken_apart(std::string_view tensor_proto) {
  Content content;
  std::string_view bytes, shape;
  for (Fields fields(tensor_proto); fields.next();) {
    if (fields->number == kProofDtypeField && fields->wire == Wire::kVarint)
      content.dtype = static_cast<DType>(static_cast<int32_t>(fields->varint));
    if (fields->bytes(kProofShapeField)) shape = fields->value;
    if (fields->bytes(kProofContentField)) bytes = fields->value;
  }
  const Shape sizes = parse_shape_proto(shape);
  const std::optional<uint64_t> known = sizes ? elements_in(*sizes) : std::nullopt;
  const uint64_t count = known.value_or(0);
  if (sizes) content.shape = *sizes;
  const size_t width = dtype_width(content.dtype);
  const auto raw = [&] {
    content.raw = true;
    content.elements = tensor_proto;
    return content;
  };
  if (!known || __builtin_mul_overflow(count, width, &content.size)) return raw();
  if (count == 0) return content;
  if (bytes.empty()) return typed_elements(tensor_proto, content, count) ? content : raw();
  if (width == 0 || bytes.size() != content.size) return raw();
  content.elements = unrepeated(bytes, width);
  return content;
}

ContentId Contents::add(const std::string& key, Content content) {
  const auto id = static_cast<ContentId>(contents_.size());
  of_type_[type_key(content.dtype, content.shape)].push_back(id);
  contents_.push_back(std::move(content));
  if (!key.empty()) by_key_[key].push_back(id);
  return id;
}

bool Contents::equal(const Content& a, const Content& b) const {
  return a.dtype == b.dtype && a.shape == b.shape && a.raw == b.raw && a.elements == b.elements;
}

// Elements repeated as often as the shape says are gone through in pieces.
uint32_t Contents::full_crc32c(Content& content) const {
  if (content.full_crc32c) return *content.full_crc32c;
  uint32_t crc = crc32c(content.elements);
  const size_t width = dtype_width(content.dtype);
  if (!content.raw && content.size > content.elements.size() && width > 0) {
    std::string piece;
    while (piece.size() < 4096) piece += content.elements.substr(content.elements.size() - width);
    for (uint64_t left = content.size - content.elements.size(); left > 0;) {
      const uint64_t size = std::min<uint64_t>(left, piece.size());
      crc = crc32c(crc, std::string_view(piece).substr(0, size));
      left -= size;
    }
  }
  content.full_crc32c = crc;
  return crc;
}

// The value of a variable is read, and from then on is a tensor like any other.
void Contents::load(Content& content, std::optional<ContentId> id) {
  if (!content.stored) return;
  ConstantValue value = content.stored->value();
  if (value.content != nullptr) {
    StringSink sink;
    sink.text.reserve(value.content->size());
    value.content->write(sink);
    append_bytes_field(value.tensor_proto, kProofContentField, sink.text);
  }
  const std::optional<uint32_t> crc = content.full_crc32c;
  content = taken_apart(arena_.keep(std::move(value.tensor_proto)));
  content.full_crc32c = crc;
  if (id) by_key_[key_of(content)].push_back(*id);
}

// Whether a variable's value is what a tensor holds; large ones are compared as they come.
bool Contents::holds(const Content& stored, const Content& tensor) {
  if (tensor.raw) return false;
  const ConstantValue value = stored.stored->value();
  if (value.content == nullptr) return equal(taken_apart(arena_.keep(value.tensor_proto)), tensor);
  if (value.content->size() != tensor.size || tensor.elements.empty()) return false;
  Comparing sink(tensor.elements, dtype_width(tensor.dtype));
  value.content->write(sink);
  return sink.same();
}

std::string Contents::key_of(const Content& content) {
  std::string key = type_key(content.dtype, content.shape);
  key += content.raw ? 'r' : 'e';
  if (content.elements.size() <= kShort) return key.append(content.elements);
  append_varint(key, content.elements.size());
  append_varint(key, crc32c(content.elements));
  return key;
}

ContentId Contents::of_tensor(std::string_view tensor_proto) {
  if (tensor_proto.size() > kShort) return find(tensor_proto);
  Recent& recent = recent_[name_hash(tensor_proto) % recent_.size()];
  if (recent.tensor_proto.data() == nullptr || recent.tensor_proto != tensor_proto)
    recent = {tensor_proto, find(tensor_proto)};
  return recent.id;
}

ContentId Contents::find(std::string_view tensor_proto) {
  Content content = taken_apart(tensor_proto);
  const std::string key = key_of(content);
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    for (const ContentId id : found->second) {
      if (equal(contents_[id], content)) return id;
    }
  }
  if (any_stored_) {
    for (const ContentId id : of_type_[type_key(content.dtype, content.shape)]) {
      Content& other = contents_[id];
      if (!other.stored) continue;
      if (other.full_crc32c && *other.full_crc32c != full_crc32c(content)) continue;
      if (!holds(other, content)) continue;
      content.full_crc32c = other.full_crc32c;
      other = std::move(content);
      by_key_[key].push_back(id);
      return id;
    }
  }
  return add(key, std::move(content));
}

ContentId Contents::of_stored(const KnownValue& value, bool by_checksum) {
  any_stored_ = true;
  Content content;
  content.dtype = value.dtype;
  content.shape = value.shape;
  const std::optional<uint64_t> count = elements_in(value.shape);
  const bool fixed = count && dtype_width(value.dtype) > 0 &&
                     !__builtin_mul_overflow(*count, dtype_width(value.dtype), &content.size);
  content.stored = value;
  if (fixed) content.full_crc32c = value.crc32c;
  for (const ContentId id : of_type_[type_key(content.dtype, content.shape)]) {
    Content& other = contents_[id];
    if (!content.stored) {  // read by now
      load(other, id);
      if (equal(other, content)) return id;
      continue;
    }
    if (content.full_crc32c) {
      if (!other.full_crc32c && !other.stored && !other.raw) full_crc32c(other);
      if (other.full_crc32c && *other.full_crc32c != *content.full_crc32c) continue;
      if (other.stored && other.full_crc32c && by_checksum) return id;
    }
    if (!other.stored) {
      if (holds(content, other)) return id;
      continue;
    }
    load(other, id);
    load(content, std::nullopt);
    if (equal(other, content)) return id;
  }
  const std::string key = content.stored ? std::string() : key_of(content);
  return add(key, std::move(content));
}

std::optional<bool> Contents::truth(ContentId id) const {
  const Content& content = contents_[id];
  if (content.dtype != DType::kBool || content.raw || content.stored || !content.shape.empty() ||
      content.elements.size() != 1 || content.size != 1)
    return std::nullopt;
  return content.elements[0] != 0;
}

std::optional<int32_t> Contents::int32_scalar(ContentId id) const {
  const Content& content = contents_[id];
  int32_t number = 0;
  if (content.dtype != DType::kInt32 || content.raw || content.stored || !content.shape.empty() ||
      content.elements.size() != sizeof number)
    return std::nullopt;
  std::memcpy(&number, content.elements.data(), sizeof number);
  return number;
}

std::optional<folding::ConstTensor> Contents::tensor(ContentId id) const {
  const Content& content = contents_[id];
  if (content.raw || content.stored || !folding::holds_values_of(content.dtype)) return std::nullopt;
  if (content.dtype != DType::kString)
    return folding::ConstTensor(content.dtype, content.shape, content.elements, nullptr);
  auto strings = std::make_shared<folding::ConstTensor::Strings>();
  const char *at = content.elements.data(), *end = at + content.elements.size();
  while (at != end) {
    const uint64_t size = read_varint(at, end);
    strings->emplace_back(at, size);
    at += size;
  }
  return folding::ConstTensor(content.shape, std::move(strings), nullptr);
}

std::string Contents::text(ContentId id) const {
  const Content& content = contents_[id];
  return dtype_name(content.dtype) + shape_text(content.shape);
}

}  // namespace gedit
