// Ops by number.
#include <functional>

#include "graph/records.h"

namespace gedit {

OpNumber GraphOps::number(std::string_view op) {
  if (slots_.size() < ops_.size() * 2 + 2) {
    slots_.assign(slots_.empty() ? 16 : slots_.size() * 2, 0);
    for (OpNumber i = 0; i < ops_.size(); ++i) place(i);
  }
  const size_t mask = slots_.size() - 1;
  for (size_t at = std::hash<std::string_view>{}(op)&mask; slots_[at] != 0; at = (at + 1) & mask) {
    if (ops_[slots_[at] - 1] == op) return slots_[at] - 1;
  }
  const auto number = static_cast<OpNumber>(ops_.size());
  ops_.push_back(op);
  kinds_.push_back(kinds_of(op));
  place(number);
  return number;
}

void GraphOps::place(OpNumber number) {
  const size_t mask = slots_.size() - 1;
  size_t at = std::hash<std::string_view>{}(ops_[number]) & mask;
  while (slots_[at] != 0) at = (at + 1) & mask;
  slots_[at] = number + 1;
}

}  // namespace gedit
