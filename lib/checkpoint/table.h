// Sorted string tables (leveldb's format), which a checkpoint's index and the older checkpoints are made of:
// read without trust, written byte for byte as TensorFlow writes them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace gedit {

// Whether the bytes end like a table.
// Throws Error (kInput) where the file is what git-lfs leaves in the place of one that was not fetched.
void refuse_lfs_pointer(const InputFile& file);

bool looks_like_table(std::string_view bytes);

// A table in a mapped file. Every block is checked (place, crc32c, size after unpacking) before it is seen;
// nothing is kept of it. Errors are of Cause::kInput and name the file and the block.
class Table {
 public:
  explicit Table(std::shared_ptr<const InputFile> file);

  const InputFile& file() const { return *file_; }
  const std::shared_ptr<const InputFile>& source() const { return file_; }
  size_t blocks() const { return handles_.size(); }

  // The records of data block `i`: a view into the file, or into `unpacked` where the block is compressed.
  std::string_view block(size_t i, std::string& unpacked) const;

  // The value under `key`, a view as above. Reads one block.
  std::optional<std::string_view> find(std::string_view key, std::string& unpacked) const;

  // An error about data block `i`.
  [[noreturn]] void refuse(size_t i, const std::string& what) const;

 private:
  struct Handle {
    uint64_t offset = 0, size = 0;
  };

  std::string_view load(Handle handle, std::string& unpacked) const;
  [[noreturn]] void refuse_at(uint64_t offset, const std::string& what) const;

  std::shared_ptr<const InputFile> file_;
  std::vector<Handle> handles_;
  std::vector<std::string> last_keys_;  // none of the block's keys is greater
};

// Goes over the records of one block.
//   for (BlockReader records(block); records.next();) use(records.key(), records.value());
// After the loop, damaged() tells whether it ended because the block is broken.
class BlockReader {
 public:
  explicit BlockReader(std::string_view block);

  bool next();
  std::string_view key() const { return key_; }      // valid until next()
  std::string_view value() const { return value_; }  // a view into the block
  bool damaged() const { return damaged_; }

 private:
  const char* position_ = nullptr;
  const char* end_ = nullptr;
  std::string key_;
  std::string_view value_;
  bool damaged_ = false;
};

// Writes a table: blocks of 256 KiB, a restart point every 16 keys, no compression, no filter
// (tensorflow/core/util/tensor_bundle/tensor_bundle.cc). Keys must come in ascending order, each once.
class TableWriter {
 public:
  explicit TableWriter(Sink& out);
  ~TableWriter();

  void add(std::string_view key, std::string_view value);
  void finish();

 private:
  class File;
  struct Builder;

  std::unique_ptr<File> file_;
  std::unique_ptr<Builder> builder_;
  std::string last_;
  bool empty_ = true;
};

}  // namespace gedit
