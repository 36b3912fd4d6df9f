#include "prove/conditions.h"

#include <algorithm>
#include <array>
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

std::optional<Conditions::Split> Conditions::split(std::span<const ConditionId> ids) {
  if (ids.empty() || std::ranges::find(ids, kNever) != ids.end()) return std::nullopt;
  std::vector<Holds> common = sets_[ids[0]];
  for (const ConditionId id : ids.subspan(1))
    std::erase_if(common, [&](const Holds& holds) { return !std::ranges::binary_search(sets_[id], holds); });
  Split split;
  for (const ConditionId id : ids) {
    if (sets_[id].size() != common.size() + 1) return std::nullopt;
    split.apart.push_back(*std::ranges::find_if(
        sets_[id], [&](const Holds& holds) { return !std::ranges::binary_search(common, holds); }));
  }
  split.common = intern(std::move(common));
  return split;
}

std::optional<ConditionId> Conditions::either(ConditionId a, ConditionId b) {
  const std::optional<Split> found = split(std::array{a, b});
  return found && found->both_sides() ? std::optional(found->common) : std::nullopt;
}

bool Conditions::Split::both_sides() const {
  return apart.size() == 2 && apart[0].of == apart[1].of && apart[0].branch != apart[1].branch &&
         std::max(apart[0].branch, apart[1].branch) == 1;
}

std::optional<Holds> Conditions::only(ConditionId id) const {
  if (id == kNever || sets_[id].size() != 1) return std::nullopt;
  return sets_[id][0];
}

// The set, and what holds where the loops ran that it names, and Merges gave something: what comes out of one
// was there when it began, or has in common what it merges.
std::vector<Holds> Conditions::implied(ConditionId id) const {
  constexpr size_t kMostImplied = 1024;
  std::vector<Holds> all = sets_[id];
  for (size_t i = 0; i < all.size() && all.size() < kMostImplied; ++i) {
    if (all[i].branch != Holds::kAlive) continue;
    ClassId of = all[i].of;
    while (classes_.label_of(of).form == KeyForm::kAfter) of = classes_.inputs(of)[0];
    const KeyForm form = classes_.label_of(of).form;
    const auto inputs = classes_.inputs(of);
    if (form == KeyForm::kUnion) {
      for (const ConditionId part : {inputs[0], inputs[1]}) {
        for (const Holds& holds : sets_[part]) all.push_back(holds);
      }
    } else if (form == KeyForm::kMerge && inputs.size() >= 2) {
      std::vector<Holds> common = sets_[inputs[1]];  // by all that it merges, each with its condition
      for (size_t k = 3; k < inputs.size(); k += 2)
        std::erase_if(
            common, [&](const Holds& holds) { return !std::ranges::binary_search(sets_[inputs[k]], holds); });
      all.insert(all.end(), common.begin(), common.end());
    }
  }
  std::ranges::sort(all);
  return all;
}

bool Conditions::exclude(ConditionId a, ConditionId b) const {
  if (a == kNever || b == kNever) return true;
  if (a == kAlways || b == kAlways) return false;
  const std::vector<Holds> of_a = implied(a), of_b = implied(b);
  for (auto at_a = of_a.begin(), at_b = of_b.begin(); at_a != of_a.end() && at_b != of_b.end();) {
    if (at_a->of != at_b->of) {
      ++(at_a->of < at_b->of ? at_a : at_b);
      continue;
    }
    for (auto other = at_b; other != of_b.end() && other->of == at_a->of; ++other) {
      if (at_a->branch != other->branch && at_a->branch != Holds::kAlive && other->branch != Holds::kAlive)
        return true;
    }
    ++at_a;
  }
  return false;
}

bool Conditions::unknown(ConditionId id) const {
  return std::ranges::any_of(sets_[id], [&](const Holds& holds) { return classes_.unknown(holds.of); });
}

}  // namespace gedit
