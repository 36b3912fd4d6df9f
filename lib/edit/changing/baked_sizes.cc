#include "edit/changing/baked_sizes.h"

#include <algorithm>

#include "graph/wiring.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr int kFarthest = 64;  // ops between a Const and the Reshape
constexpr size_t kNowhere = static_cast<size_t>(-1);

// A product of sizes: a number, and sizes that nobody knows but which are equal where their symbols are.
struct SizeProduct {
  int64_t number = 1;
  std::vector<uint32_t> symbols;  // sorted
  bool known = true;              // every size is a number or has a symbol

  void take(int64_t size, uint32_t symbol) {
    if (size >= 0) {
      known = known && !__builtin_mul_overflow(number, size, &number);
    } else if (symbol != 0) {
      symbols.insert(std::upper_bound(symbols.begin(), symbols.end(), symbol), symbol);
    } else {
      known = false;
    }
  }
  friend bool operator==(const SizeProduct&, const SizeProduct&) = default;
};

SizeProduct product(const TensorFacts& tensor, size_t begin, size_t end) {
  SizeProduct found;
  for (size_t i = begin; i < end; ++i) found.take((*tensor.shape)[i], tensor.symbols[i]);
  return found;
}

// Dimensions [x, x_end) of what is reshaped become [y, y_end) of what comes out.
struct SizeGroup {
  size_t x, x_end, y, y_end;
  bool undecided = false;  // whether all of [x, x_end) belongs here
};

// The smallest groups whose sizes agree; none where they do not. Dimensions are gone over once.
std::vector<SizeGroup> groups_of(const TensorFacts& from, const TensorFacts& to) {
  std::vector<SizeGroup> groups;
  const size_t m = from.shape->size(), n = to.shape->size();
  size_t i = 0, j = 0;
  while (i < m || j < n) {
    SizeGroup group{i, i, j, j};
    SizeProduct a, b;
    const auto left = [&] { a.take((*from.shape)[i], from.symbols[i]), group.x_end = ++i; };
    const auto right = [&] { b.take((*to.shape)[j], to.symbols[j]), group.y_end = ++j; };
    if (i < m) left();
    if (j < n) right();
    while (a != b) {
      const bool first = a.number != b.number ? a.number < b.number : a.symbols.size() < b.symbols.size();
      if (i < m && (first || j == n)) {
        left();
      } else if (j < n) {
        right();
      } else {
        return {};
      }
    }
    if (!a.known) return {};
    groups.push_back(group);
  }
  return groups;
}

bool holds(const SizeGroup& group, size_t entry) { return entry >= group.y && entry < group.y_end; }

// A 1 before the first size of a group may as well belong to the group before: where it becomes something
// else, an entry of -1 there takes it. Without one it is not known.
void settle_ones(std::vector<SizeGroup>& groups, const std::vector<int64_t>& before,
                 const std::vector<int64_t>& now, size_t free) {
  for (size_t k = 1; k < groups.size(); ++k) {
    SizeGroup &group = groups[k], &last = groups[k - 1];
    size_t first = group.x;
    bool changed = false;
    for (; first + 1 < group.x_end && before[first] == 1; ++first) changed = changed || now[first] != 1;
    if (!changed || holds(group, free)) continue;
    if (holds(last, free)) {
      last.x_end = group.x = first;
    } else {
      group.undecided = true;
    }
  }
}

class BakedSizes {
 public:
  explicit BakedSizes(const BakedPlace& place) : place_(place) {}

  std::vector<BakedEntry> run() {
    for (uint32_t i = 0; i < place_.graph.size(); ++i) {
      if (!place_.graph.removed(NodeId{i}) && place_.graph.op(NodeId{i}) == "Reshape") look_at(NodeId{i});
    }
    return std::move(found_);
  }

 private:
  // Where an element of what a tensor holds stands in a Const.
  std::pair<NodeId, size_t> source(std::string_view text, size_t element) const {
    for (int step = 0; step < kFarthest; ++step) {
      const NodeId id = place_.names.find(parse_input_of(place_.graph, text).node);
      if (id == kNoNode) return {kNoNode, 0};
      const std::string_view op = place_.graph.op(id);
      if (is_const_op(op)) return {id, element};
      std::vector<std::string_view> inputs;
      each_input(place_.graph.bytes(id), [&](std::string_view input) {
        if (!input.starts_with('^')) inputs.push_back(input);
      });
      if (inputs.empty()) return {kNoNode, 0};
      if (op == "Pack") {
        if (element >= inputs.size()) return {kNoNode, 0};
        text = inputs[element];
        element = 0;
      } else if (op == "ConcatV2") {
        const auto facts = place_.now.inputs(id);
        size_t k = 0;
        for (; k + 1 < inputs.size(); ++k) {
          const Shape& part = facts[k].shape;
          if (!part || part->size() != 1 || (*part)[0] < 0) return {kNoNode, 0};
          if (element < static_cast<size_t>((*part)[0])) break;
          element -= static_cast<size_t>((*part)[0]);
        }
        if (k + 1 >= inputs.size()) return {kNoNode, 0};
        text = inputs[k];
      } else if (is(op, OpKind::kPassesSizes)) {
        text = inputs[0];
      } else {
        return {kNoNode, 0};
      }
    }
    return {kNoNode, 0};
  }

  void look_at(NodeId id) {
    const auto before = place_.before.inputs(id), now = place_.now.inputs(id);
    if (before.size() != 2 || now.size() != 2 || !now[1].elements || before[0].shape == std::nullopt) return;
    if (before[0].shape == now[0].shape) return;
    const TensorFacts out{place_.before.shape(id), place_.before.symbols(id), {}};
    const auto& entries = *now[1].elements;
    if (!out.shape || out.shape->size() != entries.size()) return;
    const bool same_rank = now[0].shape && now[0].shape->size() == before[0].shape->size();
    size_t free = kNowhere;
    for (size_t k = 0; k < entries.size(); ++k) {
      if (entries[k] == -1) free = k;
    }
    std::string_view shape_input;
    size_t slot = 0;
    each_input(place_.graph.bytes(id), [&](std::string_view input) {
      if (slot++ == 1) shape_input = input;
    });
    std::vector<std::pair<size_t, BakedEntry>> wrong;
    std::vector<SizeProduct> sizes(entries.size());  // what each has to be; `known` where that is known
    std::vector<SizeGroup> groups = groups_of(before[0], out);
    if (same_rank) settle_ones(groups, *before[0].shape, *now[0].shape, free);
    bool any_undecided = false;
    for (const SizeGroup& group : groups) {
      SizeProduct wanted = same_rank ? product(now[0], group.x, group.x_end) : SizeProduct{1, {}, false};
      if (group.y_end - group.y == 1) sizes[group.y] = wanted;
      if (holds(group, free) && group.y_end - group.y > 1) continue;
      SizeProduct have;
      for (size_t k = group.y; k < group.y_end; ++k)
        have.take(k == free ? (*out.shape)[k] : entries[k].value_or(-1), 0);
      // Computed entries follow by themselves.
      if (!have.known || (wanted.known && wanted == have) || group.x == group.x_end) continue;
      if (holds(group, free)) continue;
      size_t at = kNowhere;
      for (size_t k = group.y; k < group.y_end && at == kNowhere; ++k) {
        for (size_t x = group.x; x < group.x_end; ++x) {
          if ((*before[0].shape)[x] == entries[k] && (!same_rank || (*now[0].shape)[x] != entries[k])) at = k;
        }
      }
      if (at == kNowhere) at = group.y;
      if (at >= group.y_end) continue;
      const auto [constant, element] = source(shape_input, at);
      if (constant == kNoNode) continue;
      const int64_t others = *entries[at] != 0 ? have.number / *entries[at] : 0;
      BakedEntry entry{constant, element, *entries[at], std::nullopt, id};
      if (!group.undecided && wanted.known && wanted.symbols.empty() && others > 0 &&
          wanted.number % others == 0)
        entry.now = wanted.number / others;
      any_undecided = any_undecided || group.undecided;
      wrong.emplace_back(at, entry);
    }
    if (!any_undecided) settle(id, shape_input, wrong, sizes, free);
    for (const auto& [at, entry] : wrong) found_.push_back(entry);
  }

  // One entry of a shape may be -1.
  void settle(NodeId id, std::string_view shape_input, std::vector<std::pair<size_t, BakedEntry>>& wrong,
              const std::vector<SizeProduct>& sizes, size_t free) {
    if (wrong.empty()) return;
    const auto unknown =
        std::count_if(wrong.begin(), wrong.end(), [](const auto& one) { return !one.second.now; });
    if (free == kNowhere && wrong.size() == 1) {
      wrong[0].second.now = -1;
    } else if (unknown == 1 && free == kNowhere) {
      for (auto& [at, entry] : wrong) {
        if (!entry.now) entry.now = -1;
      }
    } else if (unknown == 1 && sizes[free].known && sizes[free].symbols.empty()) {
      const auto [constant, element] = source(shape_input, free);
      if (constant != kNoNode) {
        for (auto& [at, entry] : wrong) {
          if (!entry.now) entry.now = -1;
        }
        wrong.emplace_back(free, BakedEntry{constant, element, -1, sizes[free].number, id, false});
      }
    }
  }

  const BakedPlace& place_;
  std::vector<BakedEntry> found_;
};

}  // namespace

std::vector<BakedEntry> baked_sizes(const BakedPlace& place) { return BakedSizes(place).run(); }

}  // namespace gedit
