// Where the nodes of a message lie, and what one look at each tells, found in one pass on all cores.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/wire.h"
#include "ops/kinds.h"

namespace gedit {

// A field of a message that is not taken apart further, as it stands in the file.
struct Part {
  uint32_t field;        // 0: of another wire type than messages and strings have; it is only carried along
  std::string_view raw;  // with tag and length
};
inline Part part_of(const Field& field) { return {field.wire == Wire::kBytes ? field.number : 0, field.raw}; }

using OpNumber = uint32_t;  // of GraphOps; below its size()

// The ops of many nodes, each kept once with its kinds: a node has a number, and what kind of op it is, is a
// test of a bit. Of functions that are called as ops there are as many as a library has.
class GraphOps {
 public:
  // The number of `op`, whose text outlives the table.
  OpNumber number(std::string_view op);
  std::string_view op(OpNumber number) const { return ops_[number]; }
  OpKinds kinds(OpNumber number) const { return kinds_[number]; }
  size_t size() const { return ops_.size(); }

 private:
  void place(OpNumber number);

  std::vector<std::string_view> ops_;
  std::vector<OpKinds> kinds_;
  std::vector<uint32_t> slots_;  // number + 1 by hash, 0 for a free slot
};

// Gives numbers to the ops of many nodes in a row: mostly it is one of the few that came last.
class RecentOps {
 public:
  // As ops.number(op), always of the same table or of one that took its place.
  OpNumber number(GraphOps& ops, std::string_view op) {
    OpNumber& recent = recent_[slot(op)];
    if (recent < ops.size() && ops.op(recent) == op) return recent;
    return recent = ops.number(op);
  }

 private:
  static constexpr size_t kRecent = 256;
  static size_t slot(std::string_view op) {
    if (op.empty()) return 0;
    return (op.size() * 31 + size_t{7} * static_cast<unsigned char>(op.front()) +
            static_cast<unsigned char>(op.back())) %
           kRecent;
  }

  std::array<OpNumber, kRecent> recent_{};
};

// By node.
struct NodeRecords {
  std::vector<const char*> records;  // the tag of its record; null: removed
  std::vector<OpNumber> ops;
  std::vector<uint64_t> hashes;   // name_hash() of its name
  std::vector<uint32_t> unusual;  // those that are not fields_ascend()
  bool devices = false;           // some are on one

  size_t size() const { return records.size(); }
  void reserve(size_t nodes);
  void clear();
  void add(const char* record, std::string_view node_def, GraphOps& table, RecentOps& recent);
  void append(const NodeRecords& more);
};

// A table by node that copies of a graph share until one of them changes it: most are only looked at.
// Copies may be read by several threads at once, as long as none of them is changed or goes meanwhile.
template <typename T>
class SharedRows {
 public:
  SharedRows() = default;
  explicit SharedRows(std::vector<T> rows) : rows_(std::make_shared<std::vector<T>>(std::move(rows))) {
    look();
  }
  SharedRows(const SharedRows&) = default;
  SharedRows(SharedRows&& other) noexcept
      : rows_(std::move(other.rows_)), seen_(std::exchange(other.seen_, {})) {}
  SharedRows& operator=(const SharedRows&) = default;
  SharedRows& operator=(SharedRows&& other) noexcept {
    rows_ = std::move(other.rows_);
    seen_ = std::exchange(other.seen_, {});
    return *this;
  }
  ~SharedRows() = default;

  size_t size() const { return seen_.size(); }
  const T& operator[](size_t i) const { return seen_[i]; }
  auto begin() const { return seen_.begin(); }
  auto end() const { return seen_.end(); }

  // To be written: nobody else's from now on.
  std::span<T> own() {
    rows();
    return {rows_->data(), rows_->size()};
  }
  void reserve(size_t size) {
    rows().reserve(size);
    look();
  }
  void push_back(T row) {
    rows().push_back(row);
    look();
  }
  void append(const SharedRows& more) {
    std::vector<T>& all = rows();
    all.insert(all.end(), more.begin(), more.end());
    look();
  }

 private:
  std::vector<T>& rows() {
    if (rows_ == nullptr) rows_ = std::make_shared<std::vector<T>>();
    if (rows_.use_count() > 1) rows_ = std::make_shared<std::vector<T>>(*rows_);
    look();
    return *rows_;
  }
  void look() { seen_ = *rows_; }

  std::shared_ptr<std::vector<T>> rows_;
  std::span<const T> seen_;  // all of them
};

struct FoundNodes {
  NodeRecords nodes;
  GraphOps ops;
  std::vector<Part> parts;             // other fields, in order
  std::vector<uint32_t> nodes_before;  // for each part, how many nodes stand before it
};

// The fields `node_field` of the message. Throws Malformed for the first thing in the file that is not well
// formed, with the same result for any number of cores.
FoundNodes find_nodes(std::string_view message, uint32_t node_field);

// The record at `position`: tag, length, NodeDef. The bytes were seen to be whole when it was found.
struct Record {
  std::string_view raw, node_def;
};
inline Record record_at(const char* position);

// ---------------------------------------------------------------------------------------------------------------------

inline Record record_at(const char* position) {
  // One byte of tag and at most five of length is what every writer makes; Fields handles the rest.
  const char* p = position;
  while ((static_cast<unsigned char>(*p) & 0x80) != 0) ++p;
  ++p;
  uint64_t length = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(*p++);
    length |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) break;
  }
  return {{position, static_cast<size_t>(p - position) + length}, {p, length}};
}

}  // namespace gedit
