#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"

namespace gedit {
namespace {

constexpr size_t kBuffer = size_t{256} << 10;  // measured: larger gains nothing, smaller costs system calls
constexpr size_t kLong =
    size_t{64} << 10;  // from here on, reading beats copying from a mapping that is not yet faulted in

constexpr size_t kWhole = size_t{256} << 10;  // from here on, writing from the mapping beats both
constexpr size_t kMapped = size_t{4} << 20;   // measured: 1 MiB costs a tenth more, larger gains nothing

// For more at once, the kernel looks for megabytes of memory in one piece, and sometimes takes a second to
// make them.
constexpr size_t kWrite = size_t{256} << 10;

constexpr uint64_t kWorthAThread = uint64_t{4}
                                   << 20;  // bytes of output; below, starting one costs what it saves

std::string system_text(int error) {
  std::string text = std::strerror(error);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

[[noreturn]] void fail_reading(const std::string& path, int error) {
  throw Error(Cause::kInput, system_text(error)).in(path);
}

// A file of its own without a name, deleted with its last descriptor.
int open_scratch(const std::string& path) {
  const char* dir = std::getenv("TMPDIR");
  const std::string where = dir != nullptr && *dir != '\0' ? dir : "/tmp";
  int descriptor = ::open(where.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    std::string name = where + "/gedit-XXXXXX";
    descriptor = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor < 0)
      throw Error(Cause::kInput, "no room to spool it in " + where + ": " + system_text(errno)).in(path);
    ::unlink(name.c_str());
  }
  return descriptor;
}

void write_all(int descriptor, const char* p, size_t size, int& error) {
  while (size > 0) {
    const ssize_t wrote = ::write(descriptor, p, std::min(size, kWrite));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      error = wrote < 0 ? errno : ENOSPC;
      return;
    }
    p += wrote;
    size -= static_cast<size_t>(wrote);
  }
}

int spool(const std::string& path, int pipe) {
  const int scratch = open_scratch(path);
  std::vector<char> buffer(kBuffer);
  for (;;) {
    const ssize_t got = ::read(pipe, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int error = errno;
      ::close(scratch);
      fail_reading(path, error);
    }
    if (got == 0) return scratch;
    int error = 0;
    write_all(scratch, buffer.data(), static_cast<size_t>(got), error);
    if (error != 0) {
      ::close(scratch);
      throw Error(Cause::kInput, "no room to spool it: " + system_text(error)).in(path);
    }
  }
}

}  // namespace

// What went wrong while bytes were written.
struct WriteFailure {
  int error = 0;                      // errno
  const InputFile* source = nullptr;  // where it was the source's; with error 0 it became shorter
  bool any() const { return error != 0 || source != nullptr; }
};

// Part of a mapped file, which outlives this. Whole megabytes that are mapped at once cost the kernel half of
// what reading and writing them does, and are in memory for a moment only.
struct Mapped {
  const InputFile* source = nullptr;
  std::string_view bytes;
};

namespace {

WriteFailure write_mapped(const Mapped& part, int to) {
  int error = 0;
  write_all(to, part.bytes.data(), part.bytes.size(), error);
  if (error == EFAULT) return {0, part.source};
  return {error, nullptr};
}

}  // namespace

void Sink::write_from(const std::shared_ptr<const InputFile>& /*file*/, std::string_view bytes) {
  write(bytes);
}

std::shared_ptr<const InputFile> InputFile::open(const std::string& path) {
  const bool standard = path == "-";
  int descriptor = standard ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_reading(path, errno);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    const int error = errno;
    ::close(descriptor);
    fail_reading(path, error);
  }
  if (S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    fail_reading(path, EISDIR);
  }
  if (!S_ISREG(status.st_mode) || (standard && ::lseek(descriptor, 0, SEEK_CUR) != 0)) {
    const int pipe = descriptor;
    try {
      descriptor = spool(path, pipe);
    } catch (...) {
      ::close(pipe);
      throw;
    }
    ::close(pipe);
  }
  return std::shared_ptr<const InputFile>(new InputFile(path, descriptor));  // the constructor is private
}

InputFile::InputFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) {
    const int error = errno;
    ::close(descriptor_);
    fail_reading(path_, error);
  }
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return;
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor_, 0);
  if (address == MAP_FAILED) {
    const int error = errno;
    ::close(descriptor_);
    fail_reading(path_, error);
  }
  bytes_ = {static_cast<const char*>(address), size};
}

InputFile::~InputFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  ::close(descriptor_);
}

void InputFile::fetch(std::string_view part) const {
#ifdef MADV_POPULATE_READ
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const auto first = static_cast<size_t>(part.data() - bytes_.data()) / page * page;
  const auto end = static_cast<size_t>(part.data() + part.size() - bytes_.data());
  ::madvise(const_cast<char*>(bytes_.data()) + first, end - first, MADV_POPULATE_READ);
#endif
}

void InputFile::forget(std::string_view part) const {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t first = (static_cast<size_t>(part.data() - bytes_.data()) + page - 1) / page * page;
  const size_t end = static_cast<size_t>(part.data() + part.size() - bytes_.data()) / page * page;
  if (end > first) ::madvise(const_cast<char*>(bytes_.data()) + first, end - first, MADV_DONTNEED);
}

class BackgroundWriter {
 public:
  explicit BackgroundWriter(int descriptor) : descriptor_(descriptor), thread_([this] { run(); }) {}
  ~BackgroundWriter() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  // Takes the first `size` bytes of a buffer and gives another one for it. What went wrong earlier.
  WriteFailure put(std::vector<char>& buffer, size_t size) {
    Job job{{}, std::move(buffer), size};
    const WriteFailure failure = put(std::move(job));
    const std::lock_guard lock(mutex_);
    if (buffers_.empty()) {
      buffer.assign(kBuffer, 0);
    } else {
      buffer = std::move(buffers_.back());
      buffers_.pop_back();
    }
    return failure;
  }

  // Writes what was fetched, and forgets it later.
  WriteFailure put(const Mapped& mapped) { return put(Job{mapped, {}, 0}); }

  // Waits until everything is written.
  WriteFailure drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return jobs_.empty(); });
    return failure_;
  }

 private:
  struct Job {
    Mapped mapped;  // without a source: from the buffer
    std::vector<char> buffer;
    size_t size = 0;
  };

  WriteFailure put(Job job) {
    std::vector<Mapped> written;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return jobs_.size() < kJobs; });
    jobs_.push_back(std::move(job));
    written.swap(written_);
    const WriteFailure failure = failure_;
    lock.unlock();
    changed_.notify_one();
    for (const Mapped& one : written) one.source->forget(one.bytes);
    return failure;
  }

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return !jobs_.empty() || stop_; });
      if (jobs_.empty()) return;
      const Job& job = jobs_.front();  // stays where it is while others come after it
      WriteFailure failure = failure_;
      lock.unlock();
      if (!failure.any() && job.mapped.source != nullptr) {
        failure = write_mapped(job.mapped, descriptor_);
      } else if (!failure.any()) {
        write_all(descriptor_, job.buffer.data(), job.size, failure.error);
      }
      lock.lock();
      failure_ = failure;
      if (job.mapped.source != nullptr) {
        written_.push_back(job.mapped);
      } else {
        buffers_.push_back(std::move(jobs_.front().buffer));
      }
      jobs_.pop_front();
      changed_.notify_one();
    }
  }

  // So many that neither thread waits for the other to wake up; large ones take kMapped of memory each.
  static constexpr size_t kJobs = 4;

  const int descriptor_;
  std::deque<Job> jobs_;  // the first one is being written
  std::vector<Mapped> written_;
  std::vector<std::vector<char>> buffers_;  // to be used again
  WriteFailure failure_;
  bool stop_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;  // the last member: it uses the others
};

namespace {

// A device, a pipe or a socket: renaming a file over it would put it away. /dev/stdout may lead to a file.
bool takes_bytes(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return false;
  if (S_ISREG(status.st_mode)) return path.starts_with("/dev/") && !path.starts_with("/dev/shm/");
  return S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode) || S_ISFIFO(status.st_mode) ||
         S_ISSOCK(status.st_mode);
}

}  // namespace

OutputFile::OutputFile(std::string path, bool overwrite)
    : path_(std::move(path)), overwrite_(overwrite), buffer_(kBuffer) {
  if (path_ == "-") {
    descriptor_ = ::dup(STDOUT_FILENO);
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
  const std::string dir(dir_name(path_));
  descriptor_ = ::open(dir.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor_ >= 0) return;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) fail(errno);
  temporary_ = path_ + ".tmp-XXXXXX";
  descriptor_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    temporary_.clear();
    fail(errno);
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor_, 0666 & ~mask);
}

OutputFile::~OutputFile() {
  background_.reset();
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::fail(int error) const {
  throw Error(Cause::kWrite, system_text(error)).in(path_ == "-" ? "(standard output)" : path_);
}

void OutputFile::expect(uint64_t size) {
  // Small files gain nothing; a file system that cannot do it writes as well without.
  if (!direct_ && size > (uint64_t{1} << 20)) {
    static_cast<void>(::fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size)));
  }
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
  while (!bytes.empty()) {
    if (used_ == buffer_.size()) flush();
    const size_t size = std::min(bytes.size(), buffer_.size() - used_);
    std::memcpy(buffer_.data() + used_, bytes.data(), size);
    used_ += size;
    bytes.remove_prefix(size);
  }
}

void OutputFile::write_from(const std::shared_ptr<const InputFile>& file, std::string_view bytes) {
  if (bytes.size() < kLong) return write(bytes);
  if (std::find(sources_.begin(), sources_.end(), file) == sources_.end()) sources_.push_back(file);
  copy_long(*file, bytes);
}

void OutputFile::copy_long(const InputFile& source, std::string_view bytes) {
  if (bytes.size() >= kWhole) return copy_whole(source, bytes);
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
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kMapped, bytes.size()))) {
    const Mapped part{&source, bytes.substr(0, kMapped)};
    source.fetch(part.bytes);  // while the thread is still busy with what was there before
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

void OutputFile::commit() {
  flush();
  drain();
  if (direct_) return;
  if (::ftruncate(descriptor_, static_cast<off_t>(written_)) != 0)
    fail(errno);  // gives back what expect() took too much
  if (temporary_.empty()) {
    std::array<char, 64> self{};
    std::snprintf(self.data(), self.size(), "/proc/self/fd/%d", descriptor_);
    if (!overwrite_) {  // fails where somebody else made the file meanwhile
      if (::linkat(AT_FDCWD, self.data(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
        if (errno == EEXIST) throw Error(Cause::kRefused, "exists").in(path_).hint("-O overwrites it");
        fail(errno);
      }
      return;
    }
    std::string name;
    for (int attempt = 0; name.empty(); ++attempt) {
      name = path_ + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
      if (::linkat(AT_FDCWD, self.data(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) break;
      if (errno != EEXIST || attempt > 100) fail(errno);
      name.clear();
    }
    temporary_ = name;
  }
  if (overwrite_) {
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
    temporary_.clear();
    return;
  }
  if (::link(temporary_.c_str(), path_.c_str()) != 0) fail(errno);  // the destructor removes the other name
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

bool is_directory(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string join_path(std::string_view dir, std::string_view name) {
  std::string path(dir);
  if (!path.empty() && path.back() != '/') path += '/';
  path += name;
  return path;
}

std::string_view base_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos || path.size() == 1 ? path : path.substr(slash + 1);
}

std::string_view dir_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace gedit
