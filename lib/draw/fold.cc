#include "draw/fold.h"

#include <algorithm>

#include "base/parallel.h"
#include "graph/names.h"
#include "graph/references.h"

namespace gedit {
namespace {

uint64_t mix(uint64_t a, uint64_t b) {
  a = (a ^ (b + 0x9e3779b97f4a7c15 + (a << 6))) * 0xe7037ed1a0b428db;
  return a ^ (a >> 29);
}

// What is left of a name without its numbers: `block_3` and `block` -> `block`. Into `text`, which is used
// again.
void find_stem(std::string_view name, std::string& text) {
  text.clear();
  for (const char c : name) {
    if (c < '0' || c > '9') text += c;
  }
  while (text.ends_with('_')) text.pop_back();
}

// Of what two blocks have in common; a sum, so that the order of attributes does not count. Tensors count by
// dtype and shape.
uint64_t attrs_hash(std::string_view op, std::string_view node_def) {
  uint64_t sum = 0;
  each_attr(node_def, [&](std::string_view key, std::string_view value) {
    if (key.starts_with('_') || attr_role(op, key) != Role::kNone || key == "container") return;
    uint64_t of_value = 0;
    if (has_field(value, attr_field::kTensor)) {
      for (Fields tensor(last_bytes(value, attr_field::kTensor)); tensor.next();) {
        if (tensor->number <= 2) of_value = mix(of_value, name_hash(tensor->raw));
      }
    } else {
      of_value = name_hash(value);
    }
    sum += mix(name_hash(key), of_value);
  });
  return sum;
}

class Folder {
 public:
  explicit Folder(Sheet& sheet) : sheet_(sheet), items_(sheet.items) {}

  void run() {
    hash_items();
    begins_.assign(items_.size() + 1, 0);
    for (const SheetEdge& edge : sheet_.edges) ++begins_[edge.to + 1];
    for (size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
    for (uint32_t scope = 0; scope < items_.size(); ++scope) {
      if (items_[scope].seat == Seat::kScope && items_[scope].boxes > 1) fold_children(scope);
    }
  }

 private:
  // What is in an item, without its own name; bottom up.
  void hash_items() {
    std::vector<uint64_t> of_kind(sheet_.like->size());
    for (const Item& item : items_) {
      if (item.like != LikeNodes::kNone && of_kind[item.like] == 0) of_kind[item.like] = kind_hash(item);
    }
    own_.assign(items_.size(), 0);
    inside_.assign(items_.size(), 0);
    in_pieces(items_.size(), [&](size_t, PieceRange range) {
      std::string stem;
      for (uint32_t i = range.begin; i < range.end; ++i) {
        const Item& item = items_[i];
        uint64_t own = 0;
        if (item.seat != Seat::kScope) {
          own = item.like != LikeNodes::kNone ? of_kind[item.like] : kind_hash(item);
          own = mix(own + static_cast<uint64_t>(item.seat), name_hash(item.device));
        }
        find_stem(item.name, stem);
        own_[i] = mix(own, name_hash(stem));
      }
    });
    for (size_t i = items_.size(); i-- > 0;) {
      inside_[i] = mix(inside_[i], own_[i]);
      if (i > 0) inside_[items_[i].parent] += mix(inside_[i], items_[i].size);
    }
  }

  // Of op and attributes.
  static uint64_t kind_hash(const Item& item) {
    const uint64_t op = name_hash(item.op);
    return item.bytes.empty() ? op : mix(op, attrs_hash(item.op, item.bytes));
  }

  // Runs of blocks, side by side: a scope of another kind ends the run.
  void fold_children(uint32_t scope) {
    uint32_t first = kNoItem;
    for (uint32_t child = scope + 1; child < scope + items_[scope].size; child += items_[child].size) {
      if (items_[child].seat != Seat::kScope || items_[child].through) continue;
      if (first == kNoItem || own_[child] != own_[first] || inside_[child] != inside_[first] ||
          !same(first, child)) {
        first = child;
        continue;
      }
      items_[first].fold = items_[child].fold = first;
      items_[first].blocks = std::max(items_[first].blocks, 1U) + 1;
    }
  }

  bool same(uint32_t a, uint32_t b) const {
    const uint32_t size = items_[a].size;
    if (items_[b].size != size) return false;
    for (uint32_t k = 1; k < size; ++k) {
      const Item &x = items_[a + k], &y = items_[b + k];
      if (x.parent - a != y.parent - b || x.op != y.op || x.seat != y.seat || x.hit != y.hit ||
          own_[a + k] != own_[b + k]) {
        return false;
      }
      uint32_t i = begins_[a + k], j = begins_[b + k];
      if (begins_[a + k + 1] - i != begins_[b + k + 1] - j) return false;
      for (; i < begins_[a + k + 1]; ++i, ++j) {
        const SheetEdge &p = sheet_.edges[i], &q = sheet_.edges[j];
        const bool inside = p.from >= a && p.from < a + size;
        if (p.control != q.control || inside != (q.from >= b && q.from < b + size)) return false;
        if (inside && p.from - a != q.from - b) return false;
      }
    }
    return true;
  }

  Sheet& sheet_;
  std::vector<Item>& items_;
  std::vector<uint64_t> own_, inside_;  // hashes of each item, without and with what is in it
  std::vector<uint32_t> begins_;        // of the edges that end at each item
};

}  // namespace

void fold_blocks(Sheet& sheet) { Folder(sheet).run(); }

}  // namespace gedit
