// Reading is our own: leveldb's reader allocates whatever a block handle asks for and cannot say which block
// is wrong. It costs one pass over the block, and a value is a view into the mapped file. Writing is
// leveldb's.
#include "checkpoint/table.h"

#include <leveldb/env.h>
#include <leveldb/options.h>
#include <leveldb/status.h>
#include <leveldb/table_builder.h>
#include <snappy.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/crc32c.h"
#include "base/error.h"

namespace gedit {
namespace {

constexpr size_t kFooter = 48;  // two block handles, padding, magic
constexpr size_t kTrailer = 5;  // one byte of compression, a masked crc32c
constexpr uint64_t kMagic = 0xdb4775248b80fb57;
constexpr size_t kMostSnappy = 22;  // a snappy element of 3 bytes makes at most 64

uint32_t load32(const char* p) {
  uint32_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// False where the number is cut off or has more than 64 bits.
bool take_varint(const char*& p, const char* end, uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(*p++);
    value |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return shift < 63 || byte < 2;
  }
  return false;
}

}  // namespace

bool looks_like_table(std::string_view bytes) {
  uint64_t magic = 0;
  if (bytes.size() < kFooter) return false;
  std::memcpy(&magic, bytes.data() + bytes.size() - sizeof magic, sizeof magic);
  return magic == kMagic;
}

void refuse_lfs_pointer(const InputFile& file) {
  if (file.bytes().starts_with("version https://git-lfs.github.com/spec/"))
    throw Error(Cause::kInput, "a git-lfs pointer, not the file").in(file.path()).hint("git lfs pull");
}

Table::Table(std::shared_ptr<const InputFile> file) : file_(std::move(file)) {
  const std::string_view bytes = file_->bytes();
  if (!looks_like_table(bytes)) {
    refuse_lfs_pointer(*file_);
    throw Error(Cause::kInput,
                bytes.size() < kFooter ? "too short for a table" : "not a table (no magic number)")
        .in(file_->path());
  }
  const char* p = bytes.data() + bytes.size() - kFooter;
  const char* end = p + kFooter - 8;
  Handle meta, index;
  if (!take_varint(p, end, meta.offset) || !take_varint(p, end, meta.size) ||
      !take_varint(p, end, index.offset) || !take_varint(p, end, index.size)) {
    throw Error(Cause::kInput, "footer is damaged").in(file_->path());
  }
  std::string unpacked;
  const std::string_view block = load(index, unpacked);
  uint64_t free = 0;  // blocks follow one another, so that none is read twice
  BlockReader records(block);
  while (records.next()) {
    Handle handle;
    const char* value = records.value().data();
    const char* value_end = value + records.value().size();
    if (!take_varint(value, value_end, handle.offset) || !take_varint(value, value_end, handle.size)) {
      refuse_at(index.offset, "block handle is damaged");
    }
    if (handle.offset < free) refuse_at(index.offset, "block handles are out of order");
    if (handle.offset > bytes.size() || handle.size > bytes.size() - handle.offset) {
      refuse_at(index.offset, "block handle points outside the file");
    }
    free = handle.offset + handle.size + kTrailer;
    handles_.push_back(handle);
    last_keys_.emplace_back(records.key());
  }
  if (records.damaged()) refuse_at(index.offset, "is damaged");
}

void Table::refuse_at(uint64_t offset, const std::string& what) const {
  throw Error(Cause::kInput, what).of("block at byte " + std::to_string(offset)).in(file_->path());
}

void Table::refuse(size_t i, const std::string& what) const { refuse_at(handles_[i].offset, what); }

std::string_view Table::load(Handle handle, std::string& unpacked) const {
  const std::string_view bytes = file_->bytes().substr(0, file_->bytes().size() - kFooter);
  if (handle.offset > bytes.size() || bytes.size() - handle.offset < kTrailer ||
      handle.size > bytes.size() - handle.offset - kTrailer) {
    refuse_at(handle.offset, "lies outside the file");
  }
  const std::string_view stored = bytes.substr(handle.offset, handle.size);
  const char* trailer = stored.data() + stored.size();
  if (crc32c({stored.data(), stored.size() + 1}) != unmasked(load32(trailer + 1))) {
    refuse_at(handle.offset, "checksum differs");
  }
  if (*trailer == 0) return stored;
  if (*trailer != 1) {
    refuse_at(handle.offset, "compressed in a way unknown here (" +
                                 std::to_string(static_cast<unsigned char>(*trailer)) + ")");
  }
  size_t size = 0;
  if (!snappy::GetUncompressedLength(stored.data(), stored.size(), &size) ||
      size / kMostSnappy > stored.size()) {
    refuse_at(handle.offset, "compressed data is damaged");
  }
  unpacked.resize(size);
  if (!snappy::RawUncompress(stored.data(), stored.size(), unpacked.data())) {
    refuse_at(handle.offset, "compressed data is damaged");
  }
  return unpacked;
}

std::string_view Table::block(size_t i, std::string& unpacked) const { return load(handles_[i], unpacked); }

std::optional<std::string_view> Table::find(std::string_view key, std::string& unpacked) const {
  const auto place = std::lower_bound(last_keys_.begin(), last_keys_.end(), key);
  if (place == last_keys_.end()) return std::nullopt;
  const auto i = static_cast<size_t>(place - last_keys_.begin());
  BlockReader records(block(i, unpacked));
  while (records.next()) {
    if (records.key() == key) return records.value();
  }
  if (records.damaged()) refuse(i, "is damaged");
  return std::nullopt;
}

BlockReader::BlockReader(std::string_view block) {
  const uint64_t restarts = block.size() < 4 ? 0 : load32(block.data() + block.size() - 4);
  if (block.size() < 4 || restarts > (block.size() - 4) / 4) {
    damaged_ = true;
    return;
  }
  position_ = block.data();
  end_ = block.data() + block.size() - 4 - 4 * restarts;
}

bool BlockReader::next() {
  if (position_ == end_) return false;
  uint64_t shared = 0, own = 0, size = 0;
  const bool whole = take_varint(position_, end_, shared) && take_varint(position_, end_, own) &&
                     take_varint(position_, end_, size);
  const auto left = static_cast<uint64_t>(end_ - position_);
  if (!whole || shared > key_.size() || own > left || size > left - own) {
    damaged_ = true;
    position_ = end_;
    return false;
  }
  key_.resize(shared);
  key_.append(position_, own);
  value_ = {position_ + own, size};
  position_ += own + size;
  return true;
}

class TableWriter::File final : public leveldb::WritableFile {
 public:
  explicit File(Sink& out) : out_(out) {}
  leveldb::Status Append(const leveldb::Slice& data) override {
    out_.write({data.data(), data.size()});
    return leveldb::Status::OK();
  }
  leveldb::Status Close() override { return leveldb::Status::OK(); }
  leveldb::Status Flush() override { return leveldb::Status::OK(); }
  leveldb::Status Sync() override { return leveldb::Status::OK(); }

 private:
  Sink& out_;
};

struct TableWriter::Builder {
  leveldb::TableBuilder table;
};

namespace {

leveldb::Options bundle_options() {
  leveldb::Options options;
  options.block_size = 262144;
  options.block_restart_interval = 16;
  options.compression = leveldb::kNoCompression;
  return options;
}

}  // namespace

TableWriter::TableWriter(Sink& out)
    : file_(std::make_unique<File>(out)),
      builder_(new Builder{leveldb::TableBuilder(bundle_options(), file_.get())}) {}

TableWriter::~TableWriter() {
  if (builder_) builder_->table.Abandon();
}

void TableWriter::add(std::string_view key, std::string_view value) {
  if (!empty_ && key <= last_)
    throw Error(Cause::kRefused, quoted("key", key) + " is there twice, or out of order");
  empty_ = false;
  last_ = key;
  builder_->table.Add({key.data(), key.size()}, {value.data(), value.size()});
}

void TableWriter::finish() {
  // Where memory ends on the way nobody can tell whether it is closed, which its destructor insists on and
  // Abandon() forbids: then it stays.
  Builder* const builder = builder_.release();
  const leveldb::Status status = builder->table.Finish();
  delete builder;
  if (!status.ok()) throw Error(Cause::kWrite, "index cannot be written: " + status.ToString());
}

}  // namespace gedit
