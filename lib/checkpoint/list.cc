#include "checkpoint/list.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/crc32c.h"
#include "base/error.h"
#include "checkpoint/print.h"

namespace gedit {
namespace {

constexpr size_t kWidest = 100;  // a longer name pushes its own line only

std::string json_text(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(),
                                 [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
  if (plain) return '"' + std::string(text) + '"';
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string bytes_text(const Checkpoint& checkpoint, const Tensor& tensor, std::string_view otherwise) {
  const auto size = stored_size(checkpoint, tensor);
  return size ? std::to_string(*size) : std::string(otherwise);
}

std::string crc_text(const Place& place) {
  return fmt::format(FMT_COMPILE("{:08x}"), unmasked(place.crc32c));
}

// `"shard":0,"offset":16,"crc32c":"1a2b3c4d"`
std::string json_place(const Checkpoint& checkpoint, const Place& place, bool none) {
  if (none) return R"("shard":null,"offset":null,"crc32c":null)";
  if (in_table(checkpoint, place))
    return fmt::format(R"("shard":{},"offset":null,"crc32c":null)", place.shard);
  return fmt::format(R"("shard":{},"offset":{},"crc32c":"{}")", place.shard, place.offset, crc_text(place));
}

// The columns of a line: name, type, shape, bytes, shard, offset, crc32c, slices.
using Cells = std::array<std::string, 8>;

void fill(const Checkpoint& checkpoint, const Tensor& tensor, bool more, Cells& cells) {
  cells[0] = shown_name(tensor.name);
  cells[1] = dtype_name(tensor.dtype);
  cells[2] = shape_text(tensor.shape);
  cells[3] = bytes_text(checkpoint, tensor, "-");
  if (!more) return;
  const bool none = tensor.partitioned();
  const bool table = !none && in_table(checkpoint, tensor.place);
  cells[4] = none ? "-" : std::to_string(tensor.place.shard);
  cells[5] = none || table ? "-" : std::to_string(tensor.place.offset);
  cells[6] = none || table ? "-" : crc_text(tensor.place);
  cells[7].clear();
  for (const Slice& slice : tensor.slices) {
    if (!cells[7].empty()) cells[7] += ' ';
    cells[7] += slice_text(slice.extents);
  }
}

}  // namespace

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (const int64_t size : shape) {
    if (text.size() > 1) text += ',';
    text += std::to_string(size);
  }
  return text + "]";
}

std::string shown_name(std::string_view name) {
  const bool plain =
      !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  return plain ? std::string(name) : string_text(name);
}

void list_text(const Checkpoint& checkpoint, const std::vector<bool>& shown, bool more, Sink& out) {
  const size_t columns = more ? 8 : 4;
  Cells cells;
  const auto each = [&](auto use) {
    for (size_t i = 0; i < checkpoint.tensors.size(); ++i) {
      if (!shown[i]) continue;
      fill(checkpoint, checkpoint.tensors[i], more, cells);
      use();
    }
  };
  std::array<size_t, 8> width{};
  each([&] {
    for (size_t c = 0; c < columns; ++c) {
      if (cells[c].size() <= kWidest) width[c] = std::max(width[c], cells[c].size());
    }
  });
  std::string text;
  each([&] {
    for (size_t c = 0; c < columns; ++c) {
      if (c != 0) text += "  ";
      text += cells[c];
      if (c + 1 < columns && cells[c].size() < width[c]) text.append(width[c] - cells[c].size(), ' ');
    }
    while (text.ends_with(' ')) text.pop_back();
    text += '\n';
    if (text.size() < (size_t{64} << 10)) return;
    out.write(text);
    text.clear();
  });
  out.write(text);
}

void list_json(const Checkpoint& checkpoint, const std::vector<bool>& shown, Sink& out) {
  std::string text = fmt::format(R"({{"file":{},"kind":"Checkpoint","version":{},"shards":{},"tensors":[)",
                                 json_text(checkpoint.prefix), checkpoint.version, checkpoint.shards.size());
  bool first = true;
  for (size_t i = 0; i < checkpoint.tensors.size(); ++i) {
    if (!shown[i]) continue;
    const Tensor& tensor = checkpoint.tensors[i];
    if (!first) text += ",";
    first = false;
    text += fmt::format("\n {{\"name\":{},\"dtype\":\"{}\",\"shape\":{},\"bytes\":{},{},\"slices\":[",
                        json_text(tensor.name), dtype_name(tensor.dtype), shape_text(tensor.shape),
                        bytes_text(checkpoint, tensor, "null"),
                        json_place(checkpoint, tensor.place, tensor.partitioned()));
    for (const Slice& slice : tensor.slices) {
      const bool table = in_table(checkpoint, slice.place);
      text += fmt::format("{}{{\"slice\":\"{}\",\"bytes\":{},{}}}", &slice == tensor.slices.data() ? "" : ",",
                          slice_text(slice.extents), table ? "null" : std::to_string(slice.place.size),
                          json_place(checkpoint, slice.place, false));
    }
    text += "]}";
    if (text.size() < (size_t{64} << 10)) continue;
    out.write(text);
    text.clear();
  }
  text += fmt::format("],\n \"object_graph\":{}}}\n", checkpoint.object_based());
  out.write(text);
}

}  // namespace gedit
