// Values that lie in one piece: in files, in memory, turned round.
#include "weights/values.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "base/error.h"
#include "checkpoint/values.h"

namespace gedit {
namespace {

// From here on a view of the mapping is cheaper than a copy; both are measured with 4 MiB and more.
constexpr uint64_t kMappedFrom = uint64_t{256} << 10;

Piece read_file(const std::shared_ptr<const InputFile>& file, uint64_t offset, uint64_t size) {
  if (size >= kMappedFrom) return {file, file->bytes().substr(offset, size)};
  auto buffer = std::make_unique_for_overwrite<char[]>(size);
  for (uint64_t done = 0; done < size;) {
    const ssize_t got =
        ::pread(file->descriptor(), buffer.get() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_reading(file->path(), errno);
    if (got == 0) throw Error(Cause::kInput, "became shorter while it was read").in(file->path());
    done += static_cast<uint64_t>(got);
  }
  return {std::move(buffer), size};
}

void require_inside(const InputFile& file, uint64_t offset, uint64_t size) {
  if (offset <= file.bytes().size() && size <= file.bytes().size() - offset) return;
  throw Error(Cause::kInput, "is cut short: values at bytes " + std::to_string(offset) + " to " +
                                 std::to_string(offset + size) + ", " + std::to_string(file.bytes().size()) +
                                 " bytes are there")
      .in(file.path());
}

class FileValues final : public Values {
 public:
  FileValues(std::shared_ptr<const InputFile> file, uint64_t offset, uint64_t size,
             std::optional<Expected> expected)
      : file_(std::move(file)), offset_(offset), size_(size), expected_(expected) {}
  uint64_t size() const override { return size_; }
  Piece read(uint64_t offset, uint64_t size) const override {
    return read_file(file_, offset_ + offset, size);
  }
  std::optional<Expected> expected() const override { return expected_; }

 private:
  std::shared_ptr<const InputFile> file_;
  uint64_t offset_, size_;
  std::optional<Expected> expected_;
};

class PathValues final : public Values {
 public:
  PathValues(std::string path, uint64_t offset, uint64_t size, std::optional<Expected> expected)
      : path_(std::move(path)), offset_(offset), size_(size), expected_(expected) {}
  uint64_t size() const override { return size_; }
  Piece read(uint64_t offset, uint64_t size) const override {
    const auto file = InputFile::open(path_);
    require_inside(*file, offset_, size_);
    return read_file(file, offset_ + offset, size);
  }
  std::optional<Expected> expected() const override { return expected_; }

 private:
  std::string path_;
  uint64_t offset_, size_;
  std::optional<Expected> expected_;
};

class MemoryValues final : public Values {
 public:
  MemoryValues(std::string_view bytes, std::shared_ptr<const void> keeps, std::optional<Expected> expected)
      : bytes_(bytes), keeps_(std::move(keeps)), expected_(expected) {}
  uint64_t size() const override { return bytes_.size(); }
  Piece read(uint64_t offset, uint64_t size) const override { return Piece(bytes_.substr(offset, size)); }
  std::optional<Expected> expected() const override { return expected_; }

 private:
  std::string_view bytes_;
  std::shared_ptr<const void> keeps_;
  std::optional<Expected> expected_;
};

class MadeValues final : public Values {
 public:
  MadeValues(uint64_t size, std::function<std::string()> make) : size_(size), make_(std::move(make)) {}
  uint64_t size() const override { return size_; }
  uint64_t grain() const override { return (size_ / kGrain + 1) * kGrain; }
  Piece read(uint64_t offset, uint64_t size) const override {
    const std::string made = make_();
    auto buffer = std::make_unique_for_overwrite<char[]>(size);
    std::memcpy(buffer.get(), made.data() + offset, size);
    return {std::move(buffer), size};
  }

 private:
  uint64_t size_;
  std::function<std::string()> make_;
};

class SwappedValues final : public Values {
 public:
  SwappedValues(ValuesPtr values, DType dtype) : values_(std::move(values)), dtype_(dtype) {}
  uint64_t size() const override { return values_->size(); }
  uint64_t grain() const override { return values_->grain(); }
  Piece read(uint64_t offset, uint64_t size) const override {
    std::string bytes(values_->read(offset, size).bytes());
    swap_bytes(dtype_, bytes);
    auto buffer = std::make_unique_for_overwrite<char[]>(size);
    std::memcpy(buffer.get(), bytes.data(), size);
    return {std::move(buffer), size};
  }
  void made_of(std::vector<const Values*>& leaves) const override { leaves.push_back(values_.get()); }

 private:
  ValuesPtr values_;
  DType dtype_;
};

}  // namespace

Piece::Piece(std::shared_ptr<const InputFile> file, std::string_view mapped)
    : bytes_(mapped), file_(std::move(file)) {
  file_->fetch(bytes_);
}

Piece::~Piece() {
  if (file_) file_->forget(bytes_);
}

uint64_t stretch_of(uint64_t grain) {
  constexpr uint64_t kStretch = uint64_t{4} << 20;
  return std::max(grain, kStretch / grain * grain);
}

ValuesPtr file_values(std::shared_ptr<const InputFile> file, uint64_t offset, uint64_t size,
                      std::optional<Expected> expected) {
  require_inside(*file, offset, size);
  return std::make_shared<FileValues>(std::move(file), offset, size, expected);
}

ValuesPtr path_values(std::string path, uint64_t offset, uint64_t size, std::optional<Expected> expected) {
  return std::make_shared<PathValues>(std::move(path), offset, size, expected);
}

ValuesPtr memory_values(std::string_view bytes, std::shared_ptr<const void> keeps,
                        std::optional<Expected> expected) {
  return std::make_shared<MemoryValues>(bytes, std::move(keeps), expected);
}

ValuesPtr owned_values(std::string bytes) {
  const auto owned = std::make_shared<const std::string>(std::move(bytes));
  return memory_values(*owned, owned);
}

ValuesPtr made_values(uint64_t size, std::function<std::string()> make) {
  return std::make_shared<MadeValues>(size, std::move(make));
}

ValuesPtr swapped_values(ValuesPtr values, DType dtype) {
  if (dtype_width(dtype) < 2) return values;
  return std::make_shared<SwappedValues>(std::move(values), dtype);
}

}  // namespace gedit
