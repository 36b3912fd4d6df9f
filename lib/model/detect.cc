#include "model/detect.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/file.h"
#include "base/wire.h"
#include "model/events.h"
#include "model/finding.h"

namespace gedit {
namespace {

struct Magic {
  size_t at;
  std::string_view bytes;
  std::string_view words, hint;
};

// What begins like this is no protobuf: each would be an impossible tag, or is long enough.
constexpr std::array kMagics = {
    Magic{0, std::string_view("\x89HDF\r\n\x1a\n", 8), "an HDF5 file (Keras .h5)",
          "save the model as a SavedModel"},
    Magic{4, "TFL3", "a TFLite model", "gedit edits the graph it was made from"},
    Magic{0, "PK\x03\x04", "a zip archive (.keras, .npz, or packed files)", "unpack it"},
    Magic{0, "PK\x05\x06", "an empty zip archive", ""},
    Magic{0, "\x1f\x8b", "gzip-compressed", "gunzip it"},
    Magic{0, "BZh", "bzip2-compressed", "bunzip2 it"},
    Magic{0, std::string_view("\xfd\x37zXZ\0", 6), "xz-compressed", "unxz it"},
    Magic{0, "\x28\xb5\x2f\xfd", "zstd-compressed", "unzstd it"},
    Magic{257, "ustar", "a tar archive", "unpack it"},
    Magic{0, "\x89PNG\r\n\x1a\n", "a PNG image", ""},
    Magic{0, "\xff\xd8\xff", "a JPEG image", ""},
    Magic{0, "%PDF-", "a PDF file", ""},
    Magic{0, "\x7f\x45LF", "an ELF file (a program or library)", ""},
    Magic{0, "\x93NUMPY", "a numpy array", ""},
};

bool is_pickle(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5 && bytes.back() == '.';
}

// What a Windows shell makes of redirected text.
bool is_utf16(std::string_view bytes) {
  return bytes.size() > 3 && bytes.substr(0, 2) == "\xff\xfe" && bytes[2] != 0 && bytes[3] == 0;
}

// The beginning of a LevelDB table's first block, unpacked as far as its first literal goes. A packed block
// begins with its length, which is not 0; a plain one with the length 0 of a shared prefix.
std::string_view first_block(std::string_view table) {
  if (table.substr(0, 1) == std::string_view("\0", 1)) return table;
  size_t at = 0;
  while (at < 5 && (static_cast<unsigned char>(table[at]) & 0x80) != 0) ++at;
  ++at;
  const auto tag = static_cast<unsigned char>(table[at++]);
  if ((tag & 3) != 0) return {};
  const unsigned length = tag >> 2;
  return length < 60 ? table.substr(at, length + 1) : table.substr(at + length - 59);
}

// Both kinds of checkpoint hold their header under the key "", which sorts first: BundleHeaderProto {
// num_shards } or SavedTensorSlices { meta }.
Finding find_table(std::string_view bytes) {
  const std::string_view block = first_block(bytes);
  Finding found = {.words = "a LevelDB table, but no checkpoint"};
  if (block.size() < 4 || block[0] != 0 || block[1] != 0) return found;
  size_t at = 2;
  while (at < block.size() && (static_cast<unsigned char>(block[at]) & 0x80) != 0) ++at;
  const std::string_view header = block.substr(at + 1);
  if (header.empty()) return found;
  found.hint = "gedit checkpoint list takes it";
  if (header[0] == '\x0a') {
    found.content = Content::kCheckpointV1;
    found.words = "a V1 checkpoint";
  } else {
    found.content = Content::kCheckpointIndex;
    found.words = "the index of a checkpoint";
  }
  return found;
}

// A TFRecord file, of events or of anything else.
std::optional<Finding> find_records(std::string_view bytes) {
  switch (records_in(bytes)) {
    case Records::kNone:
      return std::nullopt;
    case Records::kOther:
      return Finding{.words = "a TFRecord file"};
    case Records::kEvents:
      return Finding{.content = Content::kEvents, .words = "an event file"};
  }
  return std::nullopt;
}

// What says itself what it is, by its first bytes, its last, or as text. Nothing where only the fields of a
// message can tell.
std::optional<Finding> examine_signs(std::string_view bytes) {
  if (bytes.empty()) {
    Finding nothing = graph_finding(Kind::kGraphDef, Format::kBinary);
    nothing.content = Content::kEmpty;
    nothing.kind_open = true;
    return nothing;
  }
  for (const Magic& magic : kMagics) {
    if (bytes.size() > magic.at && bytes.substr(magic.at, magic.bytes.size()) == magic.bytes)
      return Finding{.words = std::string(magic.words), .hint = std::string(magic.hint)};
  }
  if (is_pickle(bytes)) return Finding{.words = "a Python pickle"};
  if (is_utf16(bytes)) return Finding{.words = "text in UTF-16", .hint = "convert it to UTF-8"};
  constexpr std::string_view kTableMagic = "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
  if (bytes.size() >= 48 && bytes.substr(bytes.size() - 8) == kTableMagic) return find_table(bytes);
  if (std::optional<Finding> records = find_records(bytes)) return records;
  std::optional<Finding> text = find_text(bytes);
  // A long name of letters at the beginning of a message looks like text.
  if (!text || text->graph || bytes[0] != '\n') return text;
  Finding wire = find_wire(bytes);
  return wire.graph && !wire.kind_open && !wire.broken_at ? wire : text;
}

Finding examine(std::string_view bytes) {
  const std::optional<Finding> signs = examine_signs(bytes);
  return signs ? *signs : find_wire(bytes);
}

bool ends_with(std::string_view path, std::string_view suffix) {
  return path.size() >= suffix.size() && path.substr(path.size() - suffix.size()) == suffix;
}

void decide_by_suffix(const Finding& found, std::string_view path, Detected& graph) {
  const std::string_view name = base_name(path);
  if (found.kind_open) {
    if (name == "saved_model.pb" || name == "saved_model.pbtxt") graph.kind = Kind::kSavedModel;
    if (ends_with(name, ".meta")) graph.kind = Kind::kMetaGraphDef;
  }
  if (found.format_open && ends_with(name, ".gtxt")) graph.format = Format::kListing;
  if (found.content != Content::kEmpty) return;
  if (ends_with(name, ".pbtxt") || ends_with(name, ".pb.txt")) graph.format = Format::kText;
  if (ends_with(name, ".gtxt")) graph.format = Format::kListing;
}

// model.ckpt-7.data-00000-of-00002: its bytes are raw values and say nothing.
bool names_data_shard(std::string_view path) {
  const std::string_view name = base_name(path);
  const size_t at = name.rfind(".data-");
  return at != std::string_view::npos && name.size() == at + 20 && name.substr(at + 11, 4) == "-of-";
}

}  // namespace

std::string_view kind_word(Kind kind) {
  switch (kind) {
    case Kind::kMetaGraphDef:
      return "MetaGraphDef";
    case Kind::kSavedModel:
      return "SavedModel";
    default:
      return "GraphDef";
  }
}

Finding graph_finding(Kind kind, Format format) {
  return {.content = Content::kGraph,
          .words = "a " + std::string(kind_word(kind)),
          .graph = Detected{kind, format}};
}

Content identify(std::string_view bytes) { return examine(bytes).content; }

std::optional<Content> identify_signs(std::string_view bytes) {
  const std::optional<Finding> signs = examine_signs(bytes);
  return signs ? std::optional(signs->content) : std::nullopt;
}

Detected detect(std::string_view bytes, std::string_view path) {
  const Finding found = examine(bytes);
  if (found.broken_at) {
    throw Error(Cause::kInput, found.broken)
        .of("byte " + std::to_string(*found.broken_at))
        .hint(found.hint)
        .in(path);
  }
  if (!found.graph) {
    if (names_data_shard(path)) {
      throw Error(Cause::kInput, "the data of a checkpoint, which is named without '.data-...'").in(path);
    }
    throw Error(Cause::kInput, found.words).hint(found.hint).in(path);
  }
  Detected graph = *found.graph;
  decide_by_suffix(found, path, graph);
  return graph;
}

}  // namespace gedit
