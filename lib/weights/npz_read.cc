// Reading .npz: minizip reads the directory, members are then looked at where they lie.
#include <minizip/unzip.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "checkpoint/bundle.h"
#include "weights/npy.h"
#include "weights/npz.h"
#include "weights/scratch.h"

namespace gedit {
namespace {

constexpr uint64_t kMostRatio = 1032;  // that deflate reaches
constexpr uint64_t kSuspicious = uint64_t{256}
                                 << 20;  // bytes; from there on a ratio of kPlausible is refused
constexpr uint64_t kPlausible = 200;

// minizip's view of a mapped file.
struct View {
  std::string_view bytes;
  uint64_t at = 0;
};

voidpf open_view(voidpf opaque, const void* /*name*/, int /*mode*/) { return opaque; }
uLong read_view(voidpf /*opaque*/, voidpf stream, void* to, uLong size) {
  View& view = *static_cast<View*>(stream);
  const uint64_t left = view.at < view.bytes.size() ? view.bytes.size() - view.at : 0;
  const uLong count = std::min<uint64_t>(size, left);
  if (count != 0) std::memcpy(to, view.bytes.data() + view.at, count);
  view.at += count;
  return count;
}
uLong write_view(voidpf /*opaque*/, voidpf /*stream*/, const void* /*from*/, uLong /*size*/) { return 0; }
ZPOS64_T tell_view(voidpf /*opaque*/, voidpf stream) { return static_cast<View*>(stream)->at; }
long seek_view(voidpf /*opaque*/, voidpf stream, ZPOS64_T offset, int origin) {
  View& view = *static_cast<View*>(stream);
  const uint64_t base = origin == ZLIB_FILEFUNC_SEEK_CUR   ? view.at
                        : origin == ZLIB_FILEFUNC_SEEK_END ? view.bytes.size()
                                                           : 0;
  if (offset > view.bytes.size() - std::min<uint64_t>(base, view.bytes.size())) return -1;
  view.at = base + offset;
  return 0;
}
int close_view(voidpf /*opaque*/, voidpf /*stream*/) { return 0; }
int view_error(voidpf /*opaque*/, voidpf /*stream*/) { return 0; }

struct Member {
  std::string name;  // without .npy
  uint64_t at = 0, stored = 0, size = 0;
  uint32_t crc32 = 0;
  bool compressed = false;
};

// A directory that begins the file, and is empty: minizip takes place 0 for none.
bool is_empty_archive(std::string_view bytes) {
  constexpr std::string_view kEmptyDirectory("PK\5\6\0\0\0\0\0\0\0\0", 12);  // of disk 0, no members
  constexpr size_t kDirectory = 22;
  return bytes.starts_with(kEmptyDirectory) && bytes.size() >= kDirectory;
}

class Archive {
 public:
  explicit Archive(std::string_view bytes) : view_{bytes} {
    zlib_filefunc64_def functions{open_view, read_view,  write_view, tell_view,
                                  seek_view, close_view, view_error, &view_};
    handle_ = unzOpen2_64("", &functions);
    if (handle_ == nullptr && !is_empty_archive(bytes))
      throw Error(Cause::kInput, "is no zip archive, or cut short: it ends in no directory");
  }
  ~Archive() {
    if (handle_ != nullptr) unzClose(handle_);
  }
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  std::vector<Member> members() {
    std::vector<Member> found;
    if (handle_ == nullptr) return found;
    unz_global_info64 global{};
    if (unzGetGlobalInfo64(handle_, &global) != UNZ_OK) damaged();
    if (global.number_entry == 0) return found;
    for (int state = unzGoToFirstFile(handle_);; state = unzGoToNextFile(handle_)) {
      if (state == UNZ_END_OF_LIST_OF_FILE) break;
      if (state != UNZ_OK) damaged();
      if (auto member = current()) found.push_back(std::move(*member));
    }
    if (count_ != global.number_entry) damaged();
    std::vector<const Member*> order;
    for (const Member& member : found) order.push_back(&member);
    std::sort(order.begin(), order.end(), [](const Member* a, const Member* b) { return a->at < b->at; });
    for (size_t i = 1; i < order.size(); ++i) {
      if (order[i - 1]->at + order[i - 1]->stored > order[i]->at)
        throw Error(Cause::kInput, "its bytes overlap those of another member")
            .of(quoted("member", order[i]->name));
    }
    return found;
  }

 private:
  std::optional<Member> current() {
    ++count_;
    unz_file_info64 info{};
    if (unzGetCurrentFileInfo64(handle_, &info, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK) damaged();
    std::string name(info.size_filename, '\0');
    if (unzGetCurrentFileInfo64(handle_, &info, name.data(), name.size(), nullptr, 0, nullptr, 0) != UNZ_OK)
      damaged();
    if (name.ends_with('/')) return std::nullopt;
    const auto refuse = [&](const std::string& what) {
      return Error(Cause::kInput, what).of(quoted("member", name));
    };
    if ((info.flag & 1) != 0) throw refuse("is encrypted");
    if (info.compression_method != 0 && info.compression_method != Z_DEFLATED)
      throw refuse("is compressed in a way unknown here (" + std::to_string(info.compression_method) + ")")
          .hint("numpy.savez writes what is read");
    int method = 0, level = 0;
    if (unzOpenCurrentFile2(handle_, &method, &level, 1) != UNZ_OK)
      throw refuse("its local header is damaged");
    Member member{.name = name,
                  .at = unzGetCurrentFileZStreamPos64(handle_),
                  .stored = info.compressed_size,
                  .size = info.uncompressed_size,
                  .crc32 = static_cast<uint32_t>(info.crc),
                  .compressed = info.compression_method != 0};
    unzCloseCurrentFile(handle_);
    if (member.at > view_.bytes.size() || member.stored > view_.bytes.size() - member.at)
      throw refuse("lies outside the file, which is cut short");
    if (!member.compressed && member.stored != member.size)
      throw refuse("is stored, but its two sizes differ");
    if (!name.ends_with(".npy")) throw refuse("is no .npy file");
    member.name.resize(name.size() - 4);
    return member;
  }

  [[noreturn]] static void damaged() { throw Error(Cause::kInput, "its zip directory is damaged"); }

  View view_;
  unzFile handle_ = nullptr;
  uint64_t count_ = 0;
};

// Unpacks a deflated stream piece by piece.
class Inflating {
 public:
  explicit Inflating(std::string_view packed) : left_(packed) {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK)
      throw Error(Cause::kInput, "cannot be unpacked: no memory");
  }
  ~Inflating() { inflateEnd(&stream_); }
  Inflating(const Inflating&) = delete;
  Inflating& operator=(const Inflating&) = delete;

  // Fills as much of the buffer as there is; fewer bytes at the end of the stream.
  size_t read(char* to, size_t size) {
    size_t done = 0;
    while (done < size && !ended_) {
      constexpr size_t kStep = size_t{1} << 20;
      const std::string_view input = left_.substr(0, kStep);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
      stream_.avail_in = static_cast<uInt>(input.size());
      stream_.next_out = reinterpret_cast<Bytef*>(to + done);
      stream_.avail_out = static_cast<uInt>(std::min(size - done, kStep));
      const uInt room = stream_.avail_out;
      const int state = inflate(&stream_, Z_NO_FLUSH);
      left_.remove_prefix(input.size() - stream_.avail_in);
      done += room - stream_.avail_out;
      ended_ = state == Z_STREAM_END;
      if (state != Z_OK && !ended_) throw Error(Cause::kInput, "its compressed bytes are damaged");
    }
    return done;
  }
  bool at_end() {
    char more = 0;
    return read(&more, 1) == 0 && left_.empty();
  }

 private:
  z_stream stream_{};
  std::string_view left_;
  bool ended_ = false;
};

// The elements in a scratch file.
ValuesPtr unpacked(Inflating& inflating, const NpyHeader& header, std::string_view start,
                   const Member& member) {
  ScratchFile scratch;
  uint32_t crc = checksum_of(ChecksumKind::kCrc32, start);
  std::string_view first = start.substr(header.length);
  scratch.write(first);
  uint64_t size = first.size();
  std::vector<char> buffer(size_t{1} << 20);
  while (size < header.size) {
    const size_t got = inflating.read(buffer.data(), std::min<uint64_t>(buffer.size(), header.size - size));
    if (got == 0) throw Error(Cause::kInput, "its compressed bytes end early");
    crc = checksum_of(ChecksumKind::kCrc32, {buffer.data(), got}, crc);
    scratch.write({buffer.data(), got});
    size += got;
  }
  if (!inflating.at_end()) throw Error(Cause::kInput, "unpacks to more than the directory says");
  if (crc != member.crc32) throw Error(Cause::kInput, "checksum differs");
  return file_values(scratch.finish(), 0, header.size);
}

// Nothing where it is left out.
std::optional<Weight> compressed_weight(const Member& member, std::string_view packed, bool skip,
                                        Weights& weights) {
  if (member.size / kMostRatio > member.stored + 1)
    throw Error(Cause::kInput, "claims to unpack to more than it can");
  if (member.size > kSuspicious && member.size / kPlausible > member.stored) {
    throw Error(Cause::kInput, "unpacks to " +
                                   std::to_string(member.size / std::max<uint64_t>(member.stored, 1)) +
                                   " times its size")
        .hint("store it uncompressed with numpy.savez");
  }
  Inflating inflating(packed);
  std::string start(std::min<uint64_t>(member.size, 4096), '\0');
  start.resize(inflating.read(start.data(), start.size()));
  if (start.size() >= 12) {  // a header may be longer
    const auto u = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(start[i])); };
    const size_t length = 12 + (u(8) | u(9) << 8 | (start[6] > 1 ? u(10) << 16 : 0));
    if (length > start.size() && length <= kMostNpyHeader && length <= member.size) {
      const size_t before = start.size();
      start.resize(length);
      start.resize(before + inflating.read(start.data() + before, length - before));
    }
  }
  const NpyHeader header = parse_npy_header(start);
  if (leaves_out(header, member.name, skip, weights)) return std::nullopt;
  if (header.length + header.size != member.size) {
    throw Error(Cause::kInput, "holds " + std::to_string(member.size) + " bytes, its header says " +
                                   std::to_string(header.length + header.size));
  }
  return Weight{member.name, header.dtype, header.shape,
                npy_values(header, unpacked(inflating, header, start, member))};
}

}  // namespace

bool looks_like_zip(std::string_view bytes) {
  return bytes.starts_with("PK\3\4") || bytes.starts_with("PK\5\6");
}

Weights read_npz(const std::shared_ptr<const InputFile>& file, bool skip) try {
  Weights weights;
  weights.path = file->path();
  const std::string_view bytes = file->bytes();
  for (const Member& member : Archive(bytes).members()) {
    try {
      const std::string_view stored = bytes.substr(member.at, member.stored);
      if (member.compressed) {
        if (auto weight = compressed_weight(member, stored, skip, weights))
          weights.weights.push_back(std::move(*weight));
        continue;
      }
      const NpyHeader header = parse_npy_header(stored.substr(0, kMostNpyHeader));
      if (leaves_out(header, member.name, skip, weights)) continue;
      if (header.length + header.size != member.size) {
        throw Error(Cause::kInput, "holds " + std::to_string(member.size) + " bytes, its header says " +
                                       std::to_string(header.length + header.size));
      }
      const Expected expected{ChecksumKind::kCrc32,
                              checksum_of(ChecksumKind::kCrc32, stored.substr(0, header.length)),
                              member.crc32};
      weights.weights.push_back(
          {member.name, header.dtype, header.shape,
           npy_values(header, file_values(file, member.at + header.length, header.size, expected))});
    } catch (const Error& error) {
      throw error.of(quoted("member", member.name + ".npy"));
    }
  }
  sort_weights(weights);
  return weights;
} catch (const Error& error) {
  throw error.in(file->path());
}

}  // namespace gedit
