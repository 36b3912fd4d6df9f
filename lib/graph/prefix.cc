// What does not change is copied in runs: from one changed length to the next, a name and all the fields
// behind it are one stretch of bytes, in the input as in the output.
#include "graph/prefix.h"

#include <cstring>

#include "graph/colocation.h"
#include "graph/references.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// One byte of length may become two at 128.
constexpr size_t kOneByte = 0x80;

unsigned byte_at(const char* p) { return static_cast<unsigned char>(*p); }

class Prefixer {
 public:
  Prefixer(std::string_view node_def, const Prefixing& prefixing, char* out)
      : p_(node_def.data()),
        end_(node_def.data() + node_def.size()),
        run_(p_),
        prefix_(prefixing.prefix),
        identities_(prefixing.identities),
        shapes_(prefixing.shapes),
        out_(out) {}

  char* write() {
    while (p_ < end_) {
      if (end_ - p_ < 2) return nullptr;
      const unsigned tag = byte_at(p_);
      size_t length = byte_at(p_ + 1);
      const char* value = p_ + 2;
      if (length >= kOneByte) {
        if (end_ - p_ < 3 || byte_at(p_ + 2) >= kOneByte) return nullptr;
        length = (length & 0x7f) | (size_t{byte_at(p_ + 2)} << 7);
        ++value;
      }
      if (length > static_cast<size_t>(end_ - value)) return nullptr;
      switch (tag) {
        case 0x0a:  // name
          if (!name_.empty()) return nullptr;
          name_ = {value, length};
          if (!put(tag, value, length, false)) return nullptr;
          break;
        case 0x1a:  // input
          if (!put(tag, value, length, length > 0 && *value == '^')) return nullptr;
          if (inputs_ < kKnownInputs) input_[inputs_++] = {value, length};
          break;
        case 0x12:  // op: as it is
          if (!op_.empty()) return nullptr;
          op_ = {value, length};
          // A variable without a shared_name is to get one.
          if (identities_ && is_var_handle_op(op_)) return nullptr;
          break;
        case 0x22:  // device
          break;
        case 0x2a:  // attr
          if (!attr(value, length)) return nullptr;
          break;
        default:
          if (tag >= kOneByte || (tag & 7) != 2) return nullptr;
      }
      p_ = value + length;
    }
    flush(end_);
    return out_;
  }

 private:
  void flush(const char* upto) {
    const auto size = static_cast<size_t>(upto - run_);
    std::memcpy(out_, run_, size);
    out_ += size;
  }

  void put_prefix() {
    std::memcpy(out_, prefix_.data(), prefix_.size());
    out_ += prefix_.size();
  }

  bool put(unsigned tag, const char* value, size_t length, bool control) {
    const size_t grown = length + prefix_.size();
    if (grown >= kOneByte) return false;
    flush(p_);
    *out_++ = static_cast<char>(tag);
    *out_++ = static_cast<char>(grown);
    if (control) *out_++ = *value++;
    put_prefix();
    run_ = value;
    return true;
  }

  // An entry {1: key, 2: value}, of which what the table says of the key decides. What it says depends on
  // the op, and on the node's name what is its own.
  bool attr(const char* entry, size_t length) {
    if (length < 4 || entry[0] != 0x0a || op_.empty() || name_.empty()) return false;
    const size_t key_length = byte_at(entry + 1);
    if (key_length >= kOneByte || key_length + 4 > length || !ends_with_value(entry, 2 + key_length, length))
      return false;
    const std::string_view key(entry + 2, key_length);
    switch (attr_role(op_, key)) {
      case Role::kNone:
      case Role::kGradientType:
        return !(shapes_ && key == "_output_shapes");
      case Role::kColocation:
        return colocation(entry, length);
      case Role::kFrame:
        return string(entry, length, false);
      case Role::kSharedName:
        return string(entry, length, !identities_);
      case Role::kPair:
        // The name of a temporary variable may be its node's.
        return identities_ ? string(entry, length, false) : !is(op_, OpKind::kTemporary);
      case Role::kInstanceKey:
        return !identities_;
    }
    return false;
  }

  // Whether a value begins at `at` that takes the rest of the entry.
  static bool ends_with_value(const char* entry, size_t at, size_t length) {
    if (entry[at] != 0x12) return false;
    size_t size = byte_at(entry + at + 1);
    size_t begin = at + 2;
    if (size >= kOneByte) {
      if (begin == length || byte_at(entry + begin) >= kOneByte) return false;
      size = (size & 0x7f) | (byte_at(entry + begin) << 7);
      ++begin;
    }
    return begin + size == length;
  }

  // Whether it is the node itself or one that it reads.
  bool is_near(std::string_view target) const {
    if (target == name_) return true;
    for (size_t i = 0; i < inputs_; ++i) {
      std::string_view input = input_[i];
      if (input.starts_with('^')) input.remove_prefix(1);
      if (input.starts_with(target) && (input.size() == target.size() || input[target.size()] == ':'))
        return true;
    }
    return false;
  }

  // 2a L 0a 06 _class 12 V 0a W 12 X loc:@name
  bool colocation(const char* entry, size_t length) {
    constexpr std::string_view kHead = "\x0a\x06_class\x12";
    constexpr size_t kInner = 9 + 1 + 2 + 2;  // before `loc:@`
    if (length < kInner + kColocatedWith.size() || length + prefix_.size() >= kOneByte) return false;
    const char* value = entry + kHead.size();
    const size_t v = byte_at(value), w = byte_at(value + 2), x = byte_at(value + 4);
    if (value[1] != 0x0a || value[3] != 0x12 || v + 10 != length || w + 2 != v || x + 2 != w) return false;
    const char* text = value + 5;
    const auto node = colocated_with({text, x});
    if (!node || (identities_ && !is_near(*node))) return false;
    flush(p_);
    const auto grown = [&](size_t size) { return static_cast<char>(size + prefix_.size()); };
    *out_++ = 0x2a;
    *out_++ = grown(length);
    std::memcpy(out_, kHead.data(), kHead.size());
    out_ += kHead.size();
    *out_++ = grown(v);
    *out_++ = 0x0a;
    *out_++ = grown(w);
    *out_++ = 0x12;
    *out_++ = grown(x);
    std::memcpy(out_, text, kColocatedWith.size());
    out_ += kColocatedWith.size();
    put_prefix();
    run_ = text + kColocatedWith.size();
    return true;
  }

  // 2a L 0a K key 12 V 12 X text
  bool string(const char* entry, size_t length, bool own_name) {
    const size_t key = byte_at(entry + 1);
    const char* value = entry + 2 + key;
    const size_t before = 2 + key + 2;
    if (length < before + 2) return length == before && value[0] == 0x12 && value[1] == 0;  // no value
    const size_t v = byte_at(value + 1), x = byte_at(value + 3);
    if (value[0] != 0x12 || value[2] != 0x12 || v + before != length || x + 2 != v) return false;
    // Nothing stays nothing, and the name of what is made anew at every run stays that.
    if (identities_ && (x == 0 || std::string_view(value + 4, x) == kAnonymousName)) return true;
    if (own_name && std::string_view(value + 4, x) != name_) return true;  // other state keeps its identity
    if (length + prefix_.size() >= kOneByte) return false;
    flush(p_);
    const auto grown = [&](size_t size) { return static_cast<char>(size + prefix_.size()); };
    *out_++ = 0x2a;
    *out_++ = grown(length);
    std::memcpy(out_, entry, 2 + key + 1);
    out_ += 2 + key + 1;
    *out_++ = grown(v);
    *out_++ = 0x12;
    *out_++ = grown(x);
    put_prefix();
    run_ = value + 4;
    return true;
  }

  const char* p_;
  const char* end_;
  const char* run_;  // from here on nothing was written yet
  static constexpr size_t kKnownInputs = 4;
  std::string_view prefix_, name_, op_;
  bool identities_, shapes_;
  size_t inputs_ = 0;
  std::string_view input_[kKnownInputs];
  char* out_;
};

}  // namespace

char* prefix_node(std::string_view node_def, const Prefixing& prefixing, char* out) {
  return Prefixer(node_def, prefixing, out).write();
}

}  // namespace gedit
