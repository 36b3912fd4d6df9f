// Of nodes that compute the same the first stands for all of them (docs/rules.md#optimize-passes).
#include <algorithm>
#include <utility>

#include "base/parallel.h"
#include "optimize/constant.h"
#include "optimize/sweep.h"

namespace gedit::optimizing {
// The first node that computes the same from the same, where it is another one.
std::optional<Number> Sweep::find_equal(Number n) {
  if (!net_.asks(n).sharing) return std::nullopt;
  const bool is_const = net_.is(n, OpKind::kConst);
  if (!is_const && net_.data(n).empty()) return std::nullopt;
  // Most nodes are the only ones that read first what they do, and are not looked for. Of two that may change
  // places the later one, which fewer read; whether they do is not yet asked.
  if (!is_const) {
    const std::span<const In> data = net_.data(n);
    const bool second = may_change_places(n) && key_of(data[0]) < key_of(data[1]);
    const In from = data[second ? 1 : 0];
    if (!from.argument() && from.node < first_reader_.size()) {
      Number& first = first_reader_[from.node];
      if (first == kNobody) {
        first = n;
        return std::nullopt;
      }
      if (first != kSeveral) find_by_key(std::exchange(first, kSeveral));
    }
  }
  const Number first = find_by_key(n);
  return first == n ? std::nullopt : std::optional(first);
}

// Whether its op has two inputs that may, for some types.
bool Sweep::may_change_places(Number n) const {
  return net_.data(n).size() == 2 && net_.is(n, OpKind::kCommutes);
}

// Whether its two inputs are told in the other order.
bool Sweep::changes_places(Number n) {
  const std::span<const In> data = net_.data(n);
  return may_change_places(n) && key_of(data[0]) > key_of(data[1]) && net_.labels().commutes(net_.label(n));
}

// Of a Const, one for equal ones.
ContentId Sweep::content_of(Number n) {
  std::vector<ContentId>& known = subject_.content_ids;
  if (known.size() <= n) {
    make_room(known, net_.size());
    known.resize(net_.size(), 0);
  }
  if (known[n] == 0) {
    const std::optional<Number> same = net_.same_const(n);
    known[n] =
        same && known[*same] != 0 ? known[*same] : subject_.contents.of_tensor(tensor_of(net_.def(n))) + 1;
  }
  return known[n];
}

// The first node of the same key, or the node itself.
Number Sweep::find_by_key(Number n) {
  const std::span<const In> data = net_.data(n), controls = net_.controls(n);
  const std::string_view device = net_.device(n);
  const bool is_const = net_.is(n, OpKind::kConst);
  const ContentId content = is_const ? content_of(n) : 0;
  // No more of them than this graph may have; of functions there may be many, with few contents each.
  if (is_const && device.empty() && net_.inputs(n).empty() && content < gone_.size()) {
    if (first_const_.size() <= content) first_const_.resize(content + 1, kNobody);
    if (first_const_[content] == kNobody) first_const_[content] = n;
    return first_const_[content];
  }
  key_.resize(4 + 2 * data.size() + controls.size());
  uint32_t* next = key_.data();
  if (is_const) {
    *next++ = UINT32_MAX;
    *next++ = content;
  } else {
    *next++ = 0;
    *next++ = net_.label(n);
  }
  *next++ = device.empty()
                ? 0
                : devices_.try_emplace(device, static_cast<uint32_t>(devices_.size()) + 1).first->second;
  uint32_t* const inputs = next;
  for (const In& in : data) {
    *next++ = in.node;
    *next++ = in.index;
  }
  if (!is_const && changes_places(n)) std::swap_ranges(inputs, inputs + 2, inputs + 2);
  uint32_t* const waits = next;
  for (const In& in : controls) *next++ = in.node;
  std::sort(waits, next);
  *next = static_cast<uint32_t>(data.size());  // where the controls begin
  const ClassId id = shared_.intern(KeyForm::kArgument, key_);
  if (id == first_shared_.size()) first_shared_.push_back(n);
  return first_shared_[id];
}

// It stands for all others.
bool Sweep::share(Number n) {
  const std::optional<Number> first = find_equal(n);
  if (!first) return false;
  if (subject_.is_kept(n)) {
    more_ = true;
    return false;
  }
  const bool is_const = net_.is(n, OpKind::kConst);
  const uint32_t count = is_const ? 1 : net_.outputs(n);
  if (count == 0) {
    more_ = true;
    return false;
  }
  gone_[n] = 1;
  if (count == 1) {
    stands_[n] = {*first, 0};
  } else {
    new_aliases_.clear();
    for (uint32_t index = 0; index < count; ++index) new_aliases_.push_back({index, {*first, index}, true});
    aliases_.set(n, new_aliases_);
    control_alias_.set(n, {&*first, 1});
  }
  subject_.give_reason(n, {"share", is_const ? "constants" : "nodes"});
  return true;
}

}  // namespace gedit::optimizing
