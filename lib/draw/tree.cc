#include "draw/tree.h"

#include <algorithm>

#include "base/hash_index.h"
#include "base/letters.h"
#include "base/parallel.h"
#include "graph/names.h"

namespace gedit {
namespace {

// Runs of digits compare as numbers; names that differ in leading zeros alone, as text.
bool natural_less(std::string_view a, std::string_view b) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      size_t a_begin = i, b_begin = j;
      while (a_begin < a.size() && a[a_begin] == '0') ++a_begin;
      while (b_begin < b.size() && b[b_begin] == '0') ++b_begin;
      size_t a_end = a_begin, b_end = b_begin;
      while (a_end < a.size() && is_digit(a[a_end])) ++a_end;
      while (b_end < b.size() && is_digit(b[b_end])) ++b_end;
      if (a_end - a_begin != b_end - b_begin) return a_end - a_begin < b_end - b_begin;
      const int order = a.substr(a_begin, a_end - a_begin).compare(b.substr(b_begin, b_end - b_begin));
      if (order != 0) return order < 0;
      i = a_end;
      j = b_end;
      continue;
    }
    if (a[i] != b[j]) return a[i] < b[j];
    ++i;
    ++j;
  }
  if ((a.size() - i) != (b.size() - j)) return a.size() - i < b.size() - j;
  return a < b;
}

class Planter {
 public:
  Planter(const Wiring& wiring, const std::vector<bool>& keep, Sheet& sheet)
      : wiring_(wiring), keep_(keep), sheet_(sheet), item_of_(wiring.vertices.size(), kNoItem) {
    scopes_.emplace_back();
    scope_of_.add(name_hash({}), 0);
  }

  std::vector<uint32_t> run() {
    const auto size = static_cast<uint32_t>(wiring_.vertices.size());
    scope_of_vertex_.assign(size, 0);
    for (uint32_t v = 0; v < size; ++v) {
      if (keep_[v]) scope_of_vertex_[v] = scope_around(wiring_.vertices[v].name);
    }
    in_itself_.assign(size, false);
    in_pieces(size, [&](size_t, PieceRange range) {
      for (uint32_t v = range.begin; v < range.end; ++v) {
        const Vertex& vertex = wiring_.vertices[v];
        const uint32_t self = keep_[v] && !vertex.bytes.empty() ? scope_named(vertex.name) : HashIndex::kNone;
        in_itself_[v] = self != HashIndex::kNone && self != 0;
        if (in_itself_[v]) scope_of_vertex_[v] = self;
      }
    });
    gather();
    in_pieces(scopes_.size(), [&](size_t, PieceRange range) {
      for (uint32_t scope = range.begin; scope < range.end; ++scope)
        std::sort(children_.begin() + begins_[scope], children_.begin() + begins_[scope + 1], before);
    });
    sheet_.items.reserve(children_.size() + 1);
    emit(0, 0);
    measure(sheet_.items);
    return std::move(item_of_);
  }

 private:
  struct Child {
    std::string_view name;
    uint32_t index;  // of a scope or a vertex
    bool scope;
  };
  struct Scope {
    std::string_view path{}, name{};
    uint32_t parent = 0;
  };

  // Of one name scopes come first.
  static bool before(const Child& a, const Child& b) {
    if (a.name != b.name) return natural_less(a.name, b.name);
    return a.scope != b.scope ? a.scope : a.index < b.index;
  }

  uint32_t scope_named(std::string_view path) const {
    return scope_of_.find(name_hash(path), [&](uint32_t scope) { return scopes_[scope].path == path; });
  }

  // Neighbours lie in the same scopes: in those that the name has in common with the one before.
  uint32_t scope_around(std::string_view name) {
    const auto differs = std::mismatch(name.begin(), name.end(), last_name_.begin(), last_name_.end()).first;
    const auto common = static_cast<size_t>(differs - name.begin());
    while (!last_.empty() && scopes_[last_.back()].path.size() >= common) last_.pop_back();
    last_name_ = name;
    uint32_t scope = last_.empty() ? 0 : last_.back();
    size_t begin = last_.empty() ? 0 : scopes_[scope].path.size() + 1;
    while (last_.size() < kDeepestScope) {
      const size_t slash = name.find('/', begin);
      if (slash == std::string_view::npos) break;
      const std::string_view path = name.substr(0, slash);
      uint32_t found = scope_named(path);
      if (found == HashIndex::kNone) {
        found = static_cast<uint32_t>(scopes_.size());
        scope_of_.add(name_hash(path), found);
        scopes_.push_back({path, path.substr(begin), scope});
      }
      last_.push_back(found);
      scope = found;
      begin = slash + 1;
    }
    return scope;
  }

  // The children of each scope, one scope after the other.
  void gather() {
    begins_.assign(scopes_.size() + 1, 0);
    for (size_t i = 1; i < scopes_.size(); ++i) ++begins_[scopes_[i].parent + 1];
    for (size_t v = 0; v < scope_of_vertex_.size(); ++v) begins_[scope_of_vertex_[v] + 1] += keep_[v] ? 1 : 0;
    for (size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
    children_.resize(begins_.back());
    std::vector<uint32_t> next(begins_.begin(), begins_.end() - 1);
    for (uint32_t i = 1; i < scopes_.size(); ++i)
      children_[next[scopes_[i].parent]++] = {scopes_[i].name, i, true};
    for (uint32_t v = 0; v < scope_of_vertex_.size(); ++v) {
      if (!keep_[v]) continue;
      const uint32_t scope = scope_of_vertex_[v];
      const size_t length = scope == 0 ? 0 : scopes_[scope].path.size() + 1;
      const std::string_view name = wiring_.vertices[v].name;
      children_[next[scope]++] = {in_itself_[v] ? std::string_view() : name.substr(length), v, false};
    }
  }

  // As deep as names are taken apart.
  void emit(uint32_t scope, uint32_t parent) {
    const auto item = static_cast<uint32_t>(sheet_.items.size());
    Item& added = sheet_.items.emplace_back();
    added.seat = Seat::kScope;
    added.parent = parent;
    added.name = scopes_[scope].name;
    for (uint32_t i = begins_[scope]; i < begins_[scope + 1]; ++i) {
      const Child& child = children_[i];
      if (child.scope) {
        emit(child.index, item);
        continue;
      }
      const Vertex& vertex = wiring_.vertices[child.index];
      item_of_[child.index] = static_cast<uint32_t>(sheet_.items.size());
      Item& node = sheet_.items.emplace_back();
      node.parent = item;
      node.seat = wiring_.seat[child.index];
      node.name = child.name;
      node.self = child.name.empty() && vertex.name == scopes_[scope].path && scope != 0;
      node.op = vertex.op;
      node.device = vertex.device;
      node.bytes = vertex.bytes;
      node.type = wiring_.type[child.index];
    }
  }

  const Wiring& wiring_;
  const std::vector<bool>& keep_;
  Sheet& sheet_;
  std::vector<uint32_t> item_of_;
  std::vector<Scope> scopes_;
  HashIndex scope_of_;  // by path
  std::string_view last_name_;
  std::vector<uint32_t> last_;  // scopes around it, outermost first
  std::vector<uint32_t> scope_of_vertex_;
  std::vector<uint8_t> in_itself_;  // by vertex: stands in the scope of its name; not of bits: many threads
  std::vector<Child> children_;     // of all scopes
  std::vector<uint32_t> begins_;    // where those of each begin
};

// Copies a sheet's items in another order, with groups among them.
class Grouper {
 public:
  Grouper(Sheet& sheet, uint32_t most, const std::vector<uint32_t>& order)
      : sheet_(sheet),
        old_(std::move(sheet.items)),
        most_(most),
        order_(order),
        moved_(old_.size(), kNoItem) {
    items_.reserve(old_.size() + old_.size() / 64);
  }

  void run(std::vector<uint32_t>& item_of_vertex) {
    copy(0, 0);
    for (Item& item : items_) {
      if (item.host != kNoItem) item.host = moved_[item.host];
      if (item.fold != kNoItem) item.fold = moved_[item.fold];
    }
    for (SheetEdge& edge : sheet_.edges) {
      edge.from = moved_[edge.from];
      edge.to = moved_[edge.to];
    }
    for (uint32_t& item : item_of_vertex) {
      if (item != kNoItem) item = moved_[item];
    }
    measure(items_);
    sheet_.items = std::move(items_);
  }

 private:
  bool counts(uint32_t item) const {
    return old_[item].boxes > 0 && (old_[item].fold == kNoItem || old_[item].fold == item);
  }

  void copy(uint32_t item, uint32_t parent) {
    const auto here = static_cast<uint32_t>(items_.size());
    moved_[item] = here;
    items_.push_back(old_[item]);
    items_.back().parent = item == 0 ? 0 : parent;
    if (old_[item].seat != Seat::kScope) return;
    std::vector<uint32_t> children;
    uint32_t counted = 0;
    for (uint32_t child = item + 1; child < item + old_[item].size; child += old_[child].size) {
      children.push_back(child);
      counted += counts(child) ? 1 : 0;
    }
    if (counted > most_) {
      const auto place = [&](uint32_t child) {
        const uint32_t first = old_[child].fold == kNoItem ? child : old_[child].fold;
        return std::pair(order_[first], child);
      };
      std::sort(children.begin(), children.end(),
                [&](uint32_t a, uint32_t b) { return place(a) < place(b); });
    }
    divide(children, counted, here);
  }

  void divide(std::span<const uint32_t> children, uint32_t counted, uint32_t parent) {
    if (counted <= most_) {
      for (const uint32_t child : children) copy(child, parent);
      return;
    }
    const uint32_t groups = std::min(most_, (counted + most_ - 1) / most_);
    size_t begin = 0;
    for (uint32_t k = 0; k < groups; ++k) {
      const auto share =
          static_cast<uint32_t>(uint64_t{counted} * (k + 1) / groups - uint64_t{counted} * k / groups);
      size_t end = begin;
      uint32_t first = kNoItem, last = kNoItem;
      for (uint32_t seen = 0; end < children.size(); ++end) {
        if (!counts(children[end])) continue;
        if (seen == share) break;
        if (seen == 0) first = children[end];
        last = children[end];
        ++seen;
      }
      if (k + 1 == groups) end = children.size();
      const auto group = static_cast<uint32_t>(items_.size());
      items_.emplace_back();
      items_[group].seat = Seat::kGroup;
      items_[group].parent = parent;
      items_[group].name =
          sheet_.names->keep(std::string(old_[first].name) + " .. " + std::string(old_[last].name));
      divide(children.subspan(begin, end - begin), share, group);
      begin = end;
    }
  }

  Sheet& sheet_;
  const std::vector<Item> old_;
  uint32_t most_;
  const std::vector<uint32_t>& order_;
  std::vector<uint32_t> moved_;
  std::vector<Item> items_;
};

}  // namespace

std::vector<uint32_t> plant(const Wiring& wiring, const std::vector<bool>& keep, Sheet& sheet) {
  return Planter(wiring, keep, sheet).run();
}

void measure(std::vector<Item>& items) {
  for (Item& item : items) {
    item.size = 1;
    item.boxes = item.seat == Seat::kBox ? 1 : 0;
    item.nodes = item.seat > Seat::kGroup ? 1 : 0;
  }
  for (size_t i = items.size(); i-- > 1;) {
    items[items[i].parent].size += items[i].size;
    items[items[i].parent].boxes += items[i].boxes;
    items[items[i].parent].nodes += items[i].nodes;
  }
  for (size_t i = 1; i < items.size(); ++i) {
    const bool scope = items[i].seat == Seat::kScope || items[i].seat == Seat::kGroup;
    items[i].through = scope && items[i].boxes <= 1;
  }
}

void group(Sheet& sheet, uint32_t most, const std::vector<uint32_t>& order,
           std::vector<uint32_t>& item_of_vertex) {
  std::vector<uint32_t> counted(sheet.items.size(), 0);
  bool any = false;
  for (uint32_t i = 1; i < sheet.items.size(); ++i) {
    const Item& item = sheet.items[i];
    if (item.boxes == 0 || (item.fold != kNoItem && item.fold != i)) continue;
    any = ++counted[item.parent] > most || any;
  }
  if (any) Grouper(sheet, most, order).run(item_of_vertex);
}

}  // namespace gedit
