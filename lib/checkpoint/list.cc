#include "checkpoint/list.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/parallel.h"
#include "checkpoint/print.h"

namespace gedit {
namespace {

constexpr size_t kWidest = 100;    // a longer name pushes its own line only
constexpr size_t kUsualLine = 64;  // bytes, about

std::string json_text(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(),
                                 [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
  if (plain) return '"' + std::string(text) + '"';
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <typename Number>
void append_digits(std::string& text, Number number) {
  std::array<char, 24> digits{};
  const char* const end = std::to_chars(digits.begin(), digits.end(), number).ptr;
  text.append(digits.data(), static_cast<size_t>(end - digits.data()));
}

void append_stored_bytes(std::string& text, const Checkpoint& checkpoint, const Tensor& tensor,
                         std::string_view otherwise) {
  if (const auto size = stored_size(checkpoint, tensor)) {
    append_digits(text, *size);
  } else {
    text += otherwise;
  }
}

void append_dims(std::string& text, const std::vector<int64_t>& shape) {
  text += '[';
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ',';
    append_digits(text, shape[i]);
  }
  text += ']';
}

void append_shown_name(std::string& text, std::string_view name) {
  const bool plain =
      !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (plain) {
    text += name;
  } else {
    text += string_text(name);
  }
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

using Widths = std::array<size_t, 8>;  // of columns

// The cells of some lines, one behind the other: name, type, shape, bytes, and shard, offset, crc32c, slices
// where there is to be more. How wide a column is the last line of all may decide, so the cells are kept, not
// made twice.
class ListedCells {
 public:
  explicit ListedCells(bool more) : more_(more), columns_(more ? 8 : 4) {}

  void reserve(size_t lines) {
    text_.reserve(lines * kUsualLine);
    sizes_.reserve(lines * columns_);
  }
  const Widths& widths() const { return width_; }

  void add(const Checkpoint& checkpoint, const Tensor& tensor) {
    append_shown_name(text_, tensor.name);
    end_cell();
    text_ += dtype_name(tensor.dtype);
    end_cell();
    append_dims(text_, tensor.shape);
    end_cell();
    append_stored_bytes(text_, checkpoint, tensor, "-");
    end_cell();
    if (!more_) return;
    const bool none = tensor.partitioned();
    const bool table = !none && in_table(checkpoint, tensor.place);
    text_ += none ? "-" : std::to_string(tensor.place.shard);
    end_cell();
    text_ += none || table ? "-" : std::to_string(tensor.place.offset);
    end_cell();
    text_ += none || table ? "-" : crc_text(tensor.place);
    end_cell();
    for (const Slice& slice : tensor.slices) {
      if (&slice != tensor.slices.data()) text_ += ' ';
      text_ += slice_text(slice.extents);
    }
    end_cell();
  }

  void print(const Widths& widths, std::string& text) const {
    const char* cell = text_.data();
    for (size_t i = 0; i < sizes_.size(); i += columns_) {
      size_t at = text.size(), end = at, columns = 0;
      const auto wide = [&](size_t column) {
        return std::max<size_t>(widths[column], sizes_[i + column]) + 2;
      };
      for (size_t column = 0; column < columns_; ++column) columns += wide(column);
      text.append(columns, ' ');
      for (size_t column = 0; column < columns_; ++column) {
        const size_t size = sizes_[i + column];
        std::copy_n(cell, size, text.data() + at);
        if (size != 0) end = at + size;  // blanks at the end of a line go
        cell += size;
        at += wide(column);
      }
      text.resize(end);
      text += '\n';
    }
  }

 private:
  void end_cell() {
    const size_t size = text_.size() - begin_;
    if (size <= kWidest) width_[column_] = std::max(width_[column_], size);
    column_ = column_ + 1 == columns_ ? 0 : column_ + 1;
    sizes_.push_back(static_cast<uint32_t>(size));
    begin_ = text_.size();
  }

  bool more_;
  size_t columns_;
  std::string text_;
  size_t begin_ = 0, column_ = 0;  // of the cell that is being filled
  std::vector<uint32_t> sizes_;    // of cells
  Widths width_{};
};

}  // namespace

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  append_dims(text, shape);
  return text;
}

std::string shown_name(std::string_view name) {
  std::string text;
  append_shown_name(text, name);
  return text;
}

void list_text(const Checkpoint& checkpoint, const std::vector<bool>& shown, bool more, Sink& out) {
  const size_t count = checkpoint.tensors.size();
  std::vector<ListedCells> pieces(pieces_of(count), ListedCells(more));
  in_pieces(count, [&](size_t number, PieceRange tensors) {
    ListedCells cells(more);
    cells.reserve(tensors.end - tensors.begin);
    for (uint32_t i = tensors.begin; i < tensors.end; ++i) {
      if (shown[i]) cells.add(checkpoint, checkpoint.tensors[i]);
    }
    pieces[number] = std::move(cells);
  });
  Widths widths{};
  for (const ListedCells& piece : pieces) {
    for (size_t column = 0; column < widths.size(); ++column)
      widths[column] = std::max(widths[column], piece.widths()[column]);
  }
  pieces_in_order(
      pieces.size(), [&](size_t number, std::string& text) { pieces[number].print(widths, text); },
      [&](std::string_view text) { out.write(text); });
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
    text += fmt::format("\n {{\"name\":{},\"dtype\":\"{}\",\"shape\":{},\"bytes\":", json_text(tensor.name),
                        dtype_name(tensor.dtype), shape_text(tensor.shape));
    append_stored_bytes(text, checkpoint, tensor, "null");
    text.append(",").append(json_place(checkpoint, tensor.place, tensor.partitioned()));
    text += ",\"slices\":[";
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
