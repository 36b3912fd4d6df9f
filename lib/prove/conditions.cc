#include "prove/conditions.h"

#include <algorithm>
#include <iterator>

namespace gedit {

Conditions::Conditions(Classes& classes) : classes_(classes) {
  intern({});
  intern({{kDeadClass, 0}});  // a class that no predicate has
}

ConditionId Conditions::intern(std::vector<Holds> set) {
  const auto [found, fresh] = ids_.try_emplace(set, static_cast<ConditionId>(sets_.size()));
  if (fresh) sets_.push_back(std::move(set));
  return found->second;
}

ConditionId Conditions::both(ConditionId a, ConditionId b) {
  if (a == b || b == kAlways) return a;
  if (a == kAlways) return b;
  if (a == kNever || b == kNever) return kNever;
  if (a > b) std::swap(a, b);
  const uint64_t key = uint64_t{a} << 32 | b;
  if (const auto found = unions_.find(key); found != unions_.end()) return found->second;
  std::vector<Holds> set;
  std::ranges::set_union(sets_[a], sets_[b], std::back_inserter(set));
  if (set.size() > kMost) {
    const ClassId all = classes_.intern(KeyForm::kUnion, {a, b});
    if (unknown(a) || unknown(b)) classes_.set_unknown(all);
    set = {{all, Holds::kAlive}};
  }
  const ConditionId id = intern(std::move(set));
  unions_.emplace(key, id);
  return id;
}

ConditionId Conditions::with(ConditionId a, Holds holds) {
  if (a == kNever) return kNever;
  return both(a, intern({holds}));
}

std::optional<Conditions::Split> Conditions::split(ConditionId a, ConditionId b) {
  if (a == kNever || b == kNever) return std::nullopt;
  std::vector<Holds> only_a, only_b, common;
  std::ranges::set_difference(sets_[a], sets_[b], std::back_inserter(only_a));
  std::ranges::set_difference(sets_[b], sets_[a], std::back_inserter(only_b));
  if (only_a.size() != 1 || only_b.size() != 1 || only_a[0].of != only_b[0].of) return std::nullopt;
  if (only_a[0].branch + only_b[0].branch != 1) return std::nullopt;
  std::ranges::set_intersection(sets_[a], sets_[b], std::back_inserter(common));
  return Split{only_a[0].of, intern(std::move(common)), only_a[0].branch == 1};
}

bool Conditions::unknown(ConditionId id) const {
  return std::ranges::any_of(sets_[id], [&](const Holds& holds) { return classes_.unknown(holds.of); });
}

}  // namespace gedit
