// Files: an input that is mapped and only viewed, an output that appears whole or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gedit {

class InputFile;
class Sink;

// Bytes that come from elsewhere while they are written, and are in memory at no time.
class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;
  virtual uint64_t size() const = 0;
  virtual void write(Sink& sink) const = 0;  // size() bytes; throws Error (kInput) where they cannot be read
};

// Where serialized bytes go, in order.
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;
  virtual void write(std::string_view bytes) = 0;
  // Bytes that lie in the mapped file, and need not stay in memory.
  virtual void write_from(const std::shared_ptr<const InputFile>& file, std::string_view bytes);
  virtual void write_stream(const Stream& stream) { stream.write(*this); }
};

// Only counts: lengths stand before what they measure, so an edited message is encoded twice, once into this.
class Counter final : public Sink {
 public:
  void write(std::string_view bytes) override { size_ += bytes.size(); }
  void write_stream(const Stream& stream) override { size_ += stream.size(); }
  uint64_t size() const { return size_; }

 private:
  uint64_t size_ = 0;
};

class StringSink final : public Sink {
 public:
  void write(std::string_view bytes) override { text.append(bytes); }
  std::string text;
};

// An input file, mapped read-only for as long as the object lives. Standard input (`-`) and pipes are spooled
// to an unnamed temporary file first.
class InputFile {
 public:
  // Throws Error (kInput) where the file cannot be opened, or is a directory.
  static std::shared_ptr<const InputFile> open(const std::string& path);

  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  std::string_view bytes() const { return bytes_; }
  bool holds(std::string_view part) const {
    return part.data() >= bytes_.data() && part.data() + part.size() <= bytes_.data() + bytes_.size();
  }
  int descriptor() const { return descriptor_; }

  // Maps the pages of these bytes at once, which is cheaper than one by one as they are looked at.
  void fetch(std::string_view part) const;
  // Takes the pages that they fill out of memory; the next look brings them back.
  void forget(std::string_view part) const;

 private:
  InputFile(std::string path, int descriptor);

  std::string path_;
  int descriptor_;
  std::string_view bytes_;
};

class BackgroundWriter;
class Leftover;
struct WriteFailure;

// An output file, written in order or at its places. Nothing is at `path` before commit(): the bytes gather
// in a file without a name (O_TMPFILE) in the same directory, so that even a killed process leaves nothing
// behind; where there are none, or no /proc by which to name them, in one that is taken away on a signal.
// What it replaces gives it its permissions; where that is a link, what the link leads to is replaced. `-` is
// standard output, written as it comes, and so are /dev/stdout, /dev/stderr, /dev/fd/3, where they stand; so
// is what no file can take the place of: a device, a pipe.
class OutputFile final : public Sink {
 public:
  // Throws Error: kRefused where the file exists and `overwrite` is not set, kWrite where the directory
  // cannot be written.
  OutputFile(std::string path, bool overwrite);
  ~OutputFile() override;

  // Long runs of bytes that lie in one of these files are not brought into memory page by page.
  void read_through(std::shared_ptr<const InputFile> source) { sources_.push_back(std::move(source)); }

  void expect(uint64_t size);  // as reserve(); a large one is written in the background
  void write(std::string_view bytes) override;
  void write_from(const std::shared_ptr<const InputFile>& file, std::string_view bytes) override;
  // At its place, from any thread, of a file that nothing is written to in order; end_at() then says how long
  // it is. Throws Error (kWrite), for a device or pipe, too.
  void write_at(uint64_t offset, std::string_view bytes) const;
  void end_at(uint64_t size) { written_ = size; }
  void reserve(uint64_t size) const;             // space, if the file system can
  void take_permissions(const std::string& of);  // of a file that this one stands in for; none there: as is
  // All bytes of the file, shared by reflink, in what is still empty; false where the file system cannot.
  bool share(const InputFile& source);
  // Complete, and still without a name; what it was written with is given back. For several outputs that are
  // to appear together: nothing but place() may follow.
  void finish();
  // Of a file that is finish()ed, where it can be read meanwhile; of a device or pipe nothing.
  std::string path_meanwhile() const;
  void place(const std::string& path);  // under a name that nothing has; throws Error (kRefused, kWrite)
  void commit();                        // the file is there, whole; throws Error (kWrite)
  uint64_t written() const { return written_; }  // by now, without what is pending
  uint64_t pending() const { return used_; }

 private:
  void flush();
  void drain();  // all that was flushed is written
  void write_through(std::string_view bytes);
  void copy_long(const InputFile& source, std::string_view bytes);
  void copy_whole(const InputFile& source, std::string_view bytes);
  void check(const WriteFailure& failure) const;
  void link_as(const std::string& path);
  [[noreturn]] void fail(int error) const;

  std::string path_;
  std::string target_;  // path_, or what it leads to
  bool overwrite_;
  bool direct_ = false;    // written as it comes, not renamed
  std::string temporary_;  // name of the temporary file, where the file system knows no unnamed ones
  int descriptor_ = -1;
  uint64_t written_ = 0;
  std::vector<char> buffer_;  // from the first write() on
  size_t used_ = 0;
  std::vector<std::shared_ptr<const InputFile>> sources_;
  std::unique_ptr<BackgroundWriter> background_;
  std::unique_ptr<Leftover> leftover_;  // of `temporary_`
};

// Whether anything is at `path`, a dangling link included.
bool exists(const std::string& path);
bool is_directory(const std::string& path);
// What lies in a folder, names alone, sorted; "" is the working directory. None of one that cannot be read.
std::vector<std::string> names_in(const std::string& folder);
// Whether the file that is open here is still the one at its path: nobody replaced it.
bool still_there(const InputFile& file);
// Whether both are there and are one file or directory.
bool same_file(const std::string& a, const std::string& b);
// Where `path` is a link, what it leads to, there or not; else the path.
std::string behind_link(const std::string& path);

// `dir/name`, without doubling the slash; `name` alone where dir is empty.
std::string join_path(std::string_view dir, std::string_view name);
std::string_view base_name(std::string_view path);
std::string_view dir_name(std::string_view path);  // "." where there is none

}  // namespace gedit
