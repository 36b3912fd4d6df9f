#include "prove/classes.h"

#include <algorithm>

#include "base/error.h"

namespace gedit {
namespace {

uint32_t key_hash(LabelId label, std::span<const uint32_t> inputs) {
  uint64_t hash = (uint64_t{label} + 1) * 0x9e3779b97f4a7c15;
  for (const uint32_t input : inputs) {
    hash ^= input;
    hash *= 0xe7037ed1a0b428db;
    hash ^= hash >> 32;
  }
  return static_cast<uint32_t>(hash ^ (hash >> 29));
}

// What is told from all that is built alike, and what a loop's variable and a function's argument stand for.
bool happens_at_its_time(KeyForm form) {
  return form == KeyForm::kOwn || form == KeyForm::kLoopVar || form == KeyForm::kArgument ||
         form == KeyForm::kLambda;
}

constexpr size_t kForms = static_cast<size_t>(KeyForm::kUnion) + 1;

}  // namespace

std::string_view op_of(const Label& label) {
  return label.form == KeyForm::kNode ? std::string_view(label.text).substr(0, label.text.find('\n'))
                                      : std::string_view();
}

bool holds_class(KeyForm form, size_t i) {
  switch (form) {
    case KeyForm::kNode:
    case KeyForm::kShared:
    case KeyForm::kHandle:
    case KeyForm::kChoice:
    case KeyForm::kWhile:
    case KeyForm::kAfter:
    case KeyForm::kBefore:
      return true;
    case KeyForm::kSource:
    case KeyForm::kConst:
    case KeyForm::kLoopVar:
    case KeyForm::kArgument:
    case KeyForm::kUnion:
      return false;
    case KeyForm::kOutput:
    case KeyForm::kOwn:
      return i == 0;
    case KeyForm::kMerge:
      return i % 2 == 0;
    case KeyForm::kLambda:
      return i % 2 == 1;
  }
  return false;
}

Classes::Classes() : begins_{0}, slots_(1 << 12) {
  for (size_t form = 0; form < kForms; ++form) forms_.push_back(label(static_cast<KeyForm>(form), ""));
  keys_.push_back(forms_[static_cast<size_t>(KeyForm::kSource)]);  // kDeadClass, which no slot leads to
  begins_.push_back(1);
  unknown_.push_back(false);
  happens_.push_back(false);
}

LabelId Classes::label(KeyForm form, std::string_view text, std::string_view unknown) {
  std::string key(1, static_cast<char>(form));
  key.append(text).append(1, '\0').append(unknown);
  const auto [found, fresh] = label_ids_.try_emplace(std::move(key), static_cast<LabelId>(labels_.size()));
  if (fresh) labels_.push_back({form, std::string(text), std::string(unknown)});
  return found->second;
}

ClassId Classes::intern(LabelId label, std::span<const uint32_t> inputs) {
  const uint32_t hash = key_hash(label, inputs);
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  for (; slots_[slot].id != 0; slot = (slot + 1) & mask) {
    const auto [id, hash_of_it] = slots_[slot];
    if (hash_of_it == hash && keys_[begins_[id]] == label && std::ranges::equal(this->inputs(id), inputs))
      return id;
  }
  const auto id = static_cast<ClassId>(begins_.size() - 1);
  if (keys_.size() + inputs.size() + 1 > UINT32_MAX)
    throw Error(Cause::kRefused, "the graphs are too large to prove");
  const KeyForm form = labels_[label].form;
  bool unknown = !labels_[label].unknown.empty(), happens = unknown || happens_at_its_time(form);
  for (size_t i = 0; i < inputs.size() && !(unknown && happens); ++i) {
    if (!holds_class(form, i)) continue;
    unknown = unknown || unknown_[inputs[i]];
    happens = happens || happens_[inputs[i]];
  }
  keys_.push_back(label);
  keys_.insert(keys_.end(), inputs.begin(), inputs.end());
  begins_.push_back(static_cast<uint32_t>(keys_.size()));
  unknown_.push_back(unknown);
  happens_.push_back(happens);
  slots_[slot] = {id, hash};
  if (begins_.size() * 4 > slots_.size() * 3) grow();
  return id;
}

void Classes::grow() {
  std::vector<Slot> slots(slots_.size() * 2);
  const size_t mask = slots.size() - 1;
  for (const Slot& old : slots_) {
    if (old.id == 0) continue;
    size_t slot = old.hash & mask;
    while (slots[slot].id != 0) slot = (slot + 1) & mask;
    slots[slot] = old;
  }
  slots_ = std::move(slots);
}

}  // namespace gedit
