// An output that appears whole or not at all.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/background_writer.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"
#include "base/leftover.h"
#include "base/number.h"

namespace gedit {
namespace {

constexpr size_t kLong =
    size_t{64} << 10;  // from here on, reading beats copying from a mapping that is not yet faulted in

constexpr size_t kWhole = size_t{256} << 10;  // from here on, writing from the mapping beats both
constexpr size_t kMapped = size_t{4} << 20;   // measured: 1 MiB costs a tenth more, larger gains nothing

// Into a page, the kernel takes half as long again to copy from bytes that lie less than so many before the
// same place of theirs, and so does memcpy what is longer than a step (measured: 57 and 35 ms for 100 MB).
constexpr size_t kTooClose = 32, kPage = 4096, kStep = 1024;

bool is_too_close(uint64_t to, const char* from) {
  const size_t ahead = (to - reinterpret_cast<uintptr_t>(from)) % kPage;
  return ahead > 0 && ahead < kTooClose;
}

constexpr uint64_t kWorthAThread = uint64_t{4}
                                   << 20;  // bytes of output; below, starting one costs what it saves

// A device, a pipe or a socket: renaming a file over it would put it away. Links in /dev may lead to a file,
// and nobody wants a new one there.
bool takes_bytes(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode))
    return path.starts_with("/dev/") && !path.starts_with("/dev/shm/");
  return S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode) || S_ISFIFO(status.st_mode) ||
         S_ISSOCK(status.st_mode);
}

// Of a path that means what is open already. Opened anew, a file would be written from its beginning.
std::optional<int> own_descriptor(std::string_view path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    const std::optional<int> number =
        path.starts_with(folder) ? read_number<int>(path.substr(folder.size())) : std::nullopt;
    if (number && *number >= 0) return number;
  }
  return std::nullopt;
}

}  // namespace

OutputFile::OutputFile(std::string path, bool overwrite) : path_(std::move(path)), overwrite_(overwrite) {
  if (const std::optional<int> open_already = own_descriptor(path_)) {
    descriptor_ = ::dup(*open_already);
    if (descriptor_ < 0) fail(errno);
    direct_ = true;
    return;
  }
  if (is_directory(path_)) fail(EISDIR);
  if (takes_bytes(path_)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(errno);
    direct_ = true;
    return;
  }
  if (!overwrite_ && exists(path_)) {
    throw Error(Cause::kRefused, "exists").in(path_).hint("-O overwrites it");
  }
  target_ = behind_link(path_);
  const std::string dir(dir_name(target_));
  descriptor_ = open_unnamed(dir, O_WRONLY, 0666);
  if (descriptor_ < 0) {
    if (errno == ENOENT) throw Error(Cause::kWrite, "there is no folder '" + printable(dir) + "'").in(path_);
    if (errno != EOPNOTSUPP) fail(errno);
    temporary_ = target_ + ".tmp-XXXXXX";
    leftover_ = std::make_unique<Leftover>();
    const HeldSignals until_it_is_noted;
    descriptor_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
    if (descriptor_ < 0) {
      temporary_.clear();
      fail(errno);
    }
    leftover_->note(temporary_);
    const mode_t mask = ::umask(0);
    ::umask(mask);
    ::fchmod(descriptor_, 0666 & ~mask);
  }
  if (overwrite_) take_permissions(target_);
}

OutputFile::~OutputFile() {
  background_.reset();
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::take_permissions(const std::string& of) {
  struct stat before {
  }, now{};
  if (::stat(of.c_str(), &before) != 0 || ::fstat(descriptor_, &now) != 0) return;
  mode_t mode = before.st_mode & 07777;
  const bool owner = before.st_uid != now.st_uid, group = before.st_gid != now.st_gid;
  // Only root gives files away; whoever cannot must not make a program that runs as somebody else.
  if ((owner || group) && ::fchown(descriptor_, before.st_uid, before.st_gid) != 0) mode &= 0777;
  static_cast<void>(::fchmod(descriptor_, mode));
}

void OutputFile::fail(int error) const {
  throw Error(Cause::kWrite, system_text(error)).in(path_ == "-" ? "(standard output)" : path_);
}

void OutputFile::reserve(uint64_t size) const {
  // Small files gain nothing; a file system that cannot do it writes as well without.
  if (!direct_ && size > (uint64_t{1} << 20)) {
    static_cast<void>(::fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size)));
  }
}

void OutputFile::expect(uint64_t size) {
  reserve(size);
  if (size <= kWorthAThread || background_ != nullptr) return;
  try {
    background_ = std::make_unique<BackgroundWriter>(descriptor_);
  } catch (const std::system_error&) {
    background_ = nullptr;  // no thread is to be had; it writes as well without
  }
}

void OutputFile::write(std::string_view bytes) {
  if (bytes.size() >= kLong) {
    for (const auto& source : sources_) {
      if (source->holds(bytes)) return copy_long(*source, bytes);
    }
    // Without a thread; with one, it writes while the next bytes are read.
    if (background_ == nullptr) {
      flush();
      return write_through(bytes);
    }
  }
  if (buffer_.empty()) buffer_.resize(kFileBuffer);
  while (!bytes.empty()) {
    if (used_ == buffer_.size()) flush();
    const size_t size = std::min(bytes.size(), buffer_.size() - used_);
    std::memcpy(buffer_.data() + used_, bytes.data(), size);
    used_ += size;
    bytes.remove_prefix(size);
  }
}

void OutputFile::write_at(uint64_t offset, std::string_view bytes) const {
  if (direct_) throw Error(Cause::kWrite, "is no regular file").in(path_);
  while (!bytes.empty()) {
    const ssize_t put =
        ::pwrite(descriptor_, bytes.data(), std::min(bytes.size(), kFileBuffer), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail(errno);
    offset += static_cast<uint64_t>(put);
    bytes.remove_prefix(static_cast<size_t>(put));
  }
}

void OutputFile::write_from(const std::shared_ptr<const InputFile>& file, std::string_view bytes) {
  if (bytes.size() < kLong) return write(bytes);
  if (std::find(sources_.begin(), sources_.end(), file) == sources_.end()) sources_.push_back(file);
  copy_long(*file, bytes);
}

void OutputFile::copy_long(const InputFile& source, std::string_view bytes) {
  if (bytes.size() >= kWhole) return copy_whole(source, bytes);
  if (buffer_.empty()) buffer_.resize(kFileBuffer);
  auto offset = bytes.data() - source.bytes().data();
  size_t left = bytes.size();
  while (left > 0) {
    if (used_ == buffer_.size()) flush();
    const size_t want = std::min(left, buffer_.size() - used_);
    const ssize_t got = ::pread(source.descriptor(), buffer_.data() + used_, want, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) check({got < 0 ? errno : 0, &source});
    used_ += static_cast<size_t>(got);
    offset += got;
    left -= static_cast<size_t>(got);
  }
}

void OutputFile::copy_whole(const InputFile& source, std::string_view bytes) {
  const bool in_steps = background_ != nullptr && is_too_close(written_ + used_, bytes.data());
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kMapped, bytes.size()))) {
    const Mapped part{&source, bytes.substr(0, kMapped)};
    source.fetch(part.bytes);  // while the thread is still busy with what was there before
    if (in_steps) {
      for (size_t at = 0; at < part.bytes.size(); at += kStep) write(part.bytes.substr(at, kStep));
      source.forget(part.bytes);
      continue;
    }
    flush();
    written_ += part.bytes.size();
    if (background_ != nullptr) {
      check(background_->put(part));
      continue;
    }
    const WriteFailure failure = write_mapped(part, descriptor_);
    source.forget(part.bytes);
    check(failure);
  }
}

void OutputFile::check(const WriteFailure& failure) const {
  if (failure.source != nullptr && failure.error == 0)
    throw Error(Cause::kInput, "became shorter while it was read").in(failure.source->path());
  if (failure.source != nullptr) fail_reading(failure.source->path(), failure.error);
  if (failure.error != 0) fail(failure.error);
}

void OutputFile::flush() {
  const size_t size = std::exchange(used_, 0);
  if (size == 0) return;
  if (background_ == nullptr) return write_through({buffer_.data(), size});
  check(background_->put(buffer_, size));
  written_ += size;
}

void OutputFile::drain() {
  if (background_ != nullptr) check(background_->drain());
}

void OutputFile::write_through(std::string_view bytes) {
  drain();
  int error = 0;
  write_all(descriptor_, bytes.data(), bytes.size(), error);
  if (error != 0) fail(error);
  written_ += bytes.size();
}

bool OutputFile::share(const InputFile& source) {
  if (direct_ || ::ioctl(descriptor_, FICLONE, source.descriptor()) != 0) return false;
  written_ = source.bytes().size();
  return true;
}

void OutputFile::finish() {
  flush();
  drain();
  if (direct_) return;
  if (::ftruncate(descriptor_, static_cast<off_t>(written_)) != 0)
    fail(errno);  // gives back what expect() took too much
  background_.reset();
  buffer_ = {};
  sources_.clear();
}

std::string OutputFile::path_meanwhile() const {
  if (direct_) return "";
  return temporary_.empty() ? path_of(descriptor_) : temporary_;
}

// Fails where somebody else made the file meanwhile.
void OutputFile::link_as(const std::string& path) {
  int error = 0;
  if (temporary_.empty()) {
    error = link_open_file(descriptor_, path);
  } else if (::link(temporary_.c_str(), path.c_str()) != 0) {
    error = errno;
    // A file system without hard links.
    if ((error == EPERM || error == EOPNOTSUPP) &&
        ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) {
      temporary_.clear();
      return;
    }
  }
  if (error == EEXIST) throw Error(Cause::kRefused, "exists").in(path).hint("-O overwrites it");
  if (error != 0) fail_writing(path, error);
}

void OutputFile::place(const std::string& path) {
  link_as(path);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
  leftover_.reset();
}

void OutputFile::commit() {
  finish();
  if (direct_) return;
  if (!overwrite_) return place(path_);
  if (temporary_.empty()) {
    const HeldSignals until_it_is_there;
    for (int attempt = 0; temporary_.empty(); ++attempt) {
      std::string name = target_ + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
      const int error = link_open_file(descriptor_, name);
      if (error == 0) temporary_ = std::move(name);
      if (error != 0 && (error != EEXIST || attempt > 100)) fail(error);
    }
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  } else if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    fail(errno);
  }
  temporary_.clear();
  leftover_.reset();
}

}  // namespace gedit
