// Writing .npz: the values are put into their places by all processors, then the headers that hold their
// checksums (APPNOTE.TXT, 4.3).
#include <limits>

#include "base/error.h"
#include "checkpoint/bundle.h"
#include "weights/npy.h"
#include "weights/npz.h"

namespace gedit {
namespace {

constexpr uint64_t kMost32 = 0xffffffffU;
constexpr uint16_t kZip64 = 45, kPlain = 20;  // versions of the format
constexpr uint16_t kUtf8Names = 1 << 11;
constexpr uint16_t kDate = 1 << 5 | 1;  // 1980-01-01, as numpy has it

template <typename Number>
void put(std::string& out, Number number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

struct WrittenMember {
  std::string name;
  std::string npy;  // its header
  uint64_t at = 0, size = 0;
  uint32_t crc32 = 0;

  // As numpy's archives: the local header always has room for both long sizes.
  size_t local_size() const { return 30 + name.size() + 20; }

  std::string local_header() const {
    std::string out;
    put(out, uint32_t{0x04034b50});
    put(out, kZip64);
    fixed(out, kMost32, kMost32);
    put(out, uint16_t{20});
    out += name;
    put(out, uint16_t{1});
    put(out, uint16_t{16});
    put(out, size);
    put(out, size);
    return out;
  }

  std::string directory_entry() const {
    std::string extra;
    if (size >= kMost32) {
      put(extra, size);
      put(extra, size);
    }
    if (at >= kMost32) put(extra, at);
    const bool zip64 = !extra.empty();
    std::string out;
    put(out, uint32_t{0x02014b50});
    put(out, static_cast<uint16_t>(3 << 8 | (zip64 ? kZip64 : kPlain)));  // made on Unix
    put(out, zip64 ? kZip64 : kPlain);
    const uint64_t shown = size >= kMost32 ? kMost32 : size;
    fixed(out, shown, shown);
    put(out, static_cast<uint16_t>(zip64 ? extra.size() + 4 : 0));
    put(out, uint16_t{0});  // comment
    put(out, uint16_t{0});  // disk
    put(out, uint16_t{0});  // internal attributes
    put(out, uint32_t{0600} << 16);
    put(out, static_cast<uint32_t>(at >= kMost32 ? kMost32 : at));
    out += name;
    if (zip64) {
      put(out, uint16_t{1});
      put(out, static_cast<uint16_t>(extra.size()));
      out += extra;
    }
    return out;
  }

 private:
  // What both headers have alike, up to the length of the name.
  void fixed(std::string& out, uint64_t stored, uint64_t whole) const {
    bool ascii = true;
    for (const char c : name) ascii = ascii && static_cast<unsigned char>(c) < 0x80;
    put(out, ascii ? uint16_t{0} : kUtf8Names);
    put(out, uint16_t{0});  // stored
    put(out, uint16_t{0});  // time
    put(out, kDate);
    put(out, crc32);
    put(out, static_cast<uint32_t>(stored));
    put(out, static_cast<uint32_t>(whole));
    put(out, static_cast<uint16_t>(name.size()));
  }
};

std::string directory_end(uint64_t count, uint64_t at, uint64_t size) {
  std::string out;
  const bool zip64 = count >= 0xffff || at >= kMost32 || size >= kMost32;
  if (zip64) {
    put(out, uint32_t{0x06064b50});
    put(out, uint64_t{44});
    put(out, static_cast<uint16_t>(3 << 8 | kZip64));
    put(out, kZip64);
    put(out, uint32_t{0});
    put(out, uint32_t{0});
    put(out, count);
    put(out, count);
    put(out, size);
    put(out, at);
    put(out, uint32_t{0x07064b50});
    put(out, uint32_t{0});
    put(out, at + size);
    put(out, uint32_t{1});
  }
  put(out, uint32_t{0x06054b50});
  put(out, uint16_t{0});
  put(out, uint16_t{0});
  const auto shown = static_cast<uint16_t>(count >= 0xffff ? 0xffff : count);
  put(out, shown);
  put(out, shown);
  put(out, static_cast<uint32_t>(size >= kMost32 ? kMost32 : size));
  put(out, static_cast<uint32_t>(at >= kMost32 ? kMost32 : at));
  put(out, uint16_t{0});
  return out;
}

}  // namespace

void write_npz(const Weights& weights, const std::string& path, bool overwrite,
               const Overflowed& overflowed) {
  std::vector<WrittenMember> members;
  std::vector<Streamed> items;
  uint64_t at = 0;
  for (const Weight& weight : weights.weights) {
    WrittenMember member{.name = weight.name + ".npy", .npy = {}, .at = at};
    try {
      member.npy = npy_header(weight.dtype, weight.shape);
    } catch (const Error& error) {
      throw error.of(tensor_subject(weight.name));
    }
    if (member.name.size() > 0xffff)
      throw refused("zip takes no name that long").of(tensor_subject(weight.name));
    member.size = member.npy.size() + weight.values->size();
    at += member.local_size() + member.size;
    members.push_back(std::move(member));
  }
  OutputFile out(path, overwrite);
  for (size_t i = 0; i < members.size(); ++i) {
    items.push_back({.values = weights.weights[i].values,
                     .out = &out,
                     .at = members[i].at + members[i].local_size() + members[i].npy.size(),
                     .take = ChecksumKind::kCrc32,
                     .subject = tensor_subject(weights.weights[i].name),
                     .file = weights.path});
  }
  stream(items, overflowed);
  std::string directory;
  for (size_t i = 0; i < members.size(); ++i) {
    WrittenMember& member = members[i];
    member.crc32 = join_checksums(ChecksumKind::kCrc32, checksum_of(ChecksumKind::kCrc32, member.npy),
                                  items[i].checksum, items[i].size());
    std::string head = member.local_header();
    head += member.npy;
    out.write_at(member.at, head);
    directory += member.directory_entry();
  }
  const uint64_t directory_at = at;
  std::string end = directory_end(members.size(), directory_at, directory.size());
  directory += end;
  out.write_at(directory_at, directory);
  out.end_at(directory_at + directory.size());
  out.commit();
}

}  // namespace gedit
