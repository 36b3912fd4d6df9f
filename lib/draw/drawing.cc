#include "draw/drawing.h"

#include <algorithm>
#include <unordered_map>

#include "ops/kinds.h"

namespace gedit {
namespace {

class Drawer {
 public:
  Drawer(const Sheet& sheet, uint32_t depth) : sheet_(sheet), items_(sheet.items), depth_(depth) {}

  Drawing run() {
    boxes();
    lines();
    stubs();
    return std::move(drawing_);
  }

 private:
  static constexpr uint32_t kNone = kNoItem;

  // For each item the box that shows it; of what is in no box, that of what it sits in. What is in a block
  // that another stands for has the box of its counterpart there.
  void boxes() {
    shown_.assign(items_.size(), kNone);
    inside_.assign(items_.size(), kNone);
    block_.assign(items_.size(), kNone);
    away_.assign(items_.size(), kNone);
    std::vector<uint32_t> depth(items_.size(), 0);
    for (uint32_t i = 1; i < items_.size(); ++i) {
      const Item& item = items_[i];
      const uint32_t parent = item.parent;
      block_[i] = item.fold != kNoItem ? i : block_[parent];
      if (item.fold != kNoItem && item.fold != i) {
        for (uint32_t k = 0; k < item.size; ++k) {
          shown_[i + k] = shown_[item.fold + k];
          inside_[i + k] = inside_[item.fold + k];
          block_[i + k] = items_[i + k].fold != kNoItem ? i + k : block_[k == 0 ? i : items_[i + k].parent];
          away_[i + k] = i;
        }
        i += item.size - 1;
        continue;
      }
      shown_[i] = shown_[parent];
      inside_[i] = inside_[parent];
      depth[i] = depth[parent];
      const bool scope = item.seat == Seat::kScope || item.seat == Seat::kGroup;
      if (shown_[parent] != kNone || item.boxes == 0 || (scope && item.through)) continue;
      ++depth[i];
      const bool open = scope && (depth_ == 0 || depth[i] < depth_);
      drawing_.boxes.push_back({i, inside_[parent], open});
      const auto box = static_cast<uint32_t>(drawing_.boxes.size() - 1);
      (open ? inside_ : shown_)[i] = box;
    }
  }

  void lines() {
    std::unordered_map<uint64_t, uint32_t> known;
    // The tensors of a line are told apart by what they come from.
    std::vector<uint32_t> last_from;
    std::vector<uint32_t> row_of(items_.size(),
                                 kNone);  // the last box that a constant is in; edges are by box
    for (const SheetEdge& edge : sheet_.edges) {
      const uint32_t from = shown_[edge.from], to = shown_[edge.to];
      if (items_[edge.from].seat == Seat::kConst) {
        // A row, where the node that reads it has a box, and is no stand-in for others.
        if (to != kNone && drawing_.boxes[to].item == edge.to) {
          if (row_of[edge.from] != edge.to) drawing_.boxes[to].rows.push_back(edge.from);
          row_of[edge.from] = edge.to;
        }
        continue;
      }
      if (from == kNone || to == kNone || from == to) continue;
      if (away_[edge.from] != kNone && away_[edge.from] == away_[edge.to]) continue;  // as in the block shown
      const auto [found, fresh] =
          known.try_emplace(uint64_t{from} << 32 | to, static_cast<uint32_t>(drawing_.lines.size()));
      if (fresh) {
        drawing_.lines.push_back({from, to, 0, 0});
        last_from.push_back(kNone);
      }
      Drawing::Line& line = drawing_.lines[found->second];
      line.next = between_blocks(edge) && (fresh || line.next);
      if (edge.control) continue;
      if (line.tensors > 0 && line.type != edge.type) line.type = 0;
      if (line.tensors == 0) line.type = edge.type;
      if (line.tensors == 0 || last_from[found->second] != edge.from || line.type == 0) ++line.tensors;
      last_from[found->second] = edge.from;
    }
  }

  // Whether the ends lie in two of the blocks that are shown as one. Blocks lie in blocks, a few levels deep.
  bool between_blocks(const SheetEdge& edge) const {
    for (uint32_t a = block_[edge.from]; a != kNone; a = block_[items_[a].parent]) {
      for (uint32_t b = block_[edge.to]; b != kNone; b = block_[items_[b].parent]) {
        if (a != b && items_[a].fold == items_[b].fold) return true;
      }
    }
    return false;
  }

  void stubs() {
    std::vector<uint32_t> readers(drawing_.boxes.size(), 0), read(drawing_.boxes.size(), 0);
    for (const Drawing::Line& line : drawing_.lines) {
      ++readers[line.from];
      ++read[line.to];
    }
    for (Drawing::Line& line : drawing_.lines) {
      const Item& to = items_[drawing_.boxes[line.to].item];
      line.stub = readers[line.from] > kMostLines;
      line.sink = !line.stub && read[line.to] > kMostLines && (to.op.empty() || is_no_op(to.op));
      line.stub = line.stub || line.sink;
    }
  }

  const Sheet& sheet_;
  const std::vector<Item>& items_;
  uint32_t depth_;
  Drawing drawing_;
  std::vector<uint32_t> shown_;   // box that shows an item; kNone: none does
  std::vector<uint32_t> inside_;  // innermost open scope around it, or itself
  std::vector<uint32_t> block_;   // innermost of folded blocks that it is in
  std::vector<uint32_t> away_;    // outermost of the blocks around it that another stands for
};

}  // namespace

uint32_t Drawing::seen() const {
  return static_cast<uint32_t>(
      std::count_if(boxes.begin(), boxes.end(), [](const Box& box) { return !box.open; }));
}

Drawing draw(const Sheet& sheet, uint32_t depth) { return Drawer(sheet, depth).run(); }

std::string box_label(const Sheet& sheet, const Drawing& drawing, const Drawing::Box& box) {
  const uint32_t around = box.around == kNoItem ? 0 : drawing.boxes[box.around].item;
  const auto below = [&](uint32_t item) {
    std::string text;
    for (uint32_t i = item; i != around && i != 0; i = sheet.items[i].parent) {
      const Item& part = sheet.items[i];
      if (part.self || (part.seat == Seat::kGroup && i != item)) continue;
      text = std::string(part.name) + (text.empty() ? "" : "/") + text;
    }
    if (text.empty()) text = "(" + std::string(sheet.items[around].name) + ")";
    return text;
  };
  const Item& item = sheet.items[box.item];
  if (item.blocks < 2) return below(box.item);
  uint32_t last = box.item;  // of the blocks, which are side by side
  uint32_t seen = 1;
  const uint32_t end = item.parent + sheet.items[item.parent].size;
  for (uint32_t i = box.item + item.size; i < end && seen < item.blocks; i += sheet.items[i].size) {
    if (sheet.items[i].fold != box.item) continue;
    last = i;
    ++seen;
  }
  return below(box.item) + " .. " + std::string(sheet.items[last].name);
}

}  // namespace gedit
