// The ops of many nodes, each kept once with its kinds: a node has a number of two bytes, and what kind of op
// it is, is a test of a bit.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ops/kinds.h"

namespace gedit {

class GraphOps {
 public:
  // The number of ops that found no room: more than 65,535 are told apart by no graph but a hostile one.
  static constexpr uint16_t kOther = 0xffff;

  // The number of `op`, whose text outlives the table; kOther where there is no room.
  uint16_t number(std::string_view op) {
    // Mostly it is one of the few that came last.
    uint16_t& recent = recent_[slot(op)];
    if (recent < ops_.size() && ops_[recent] == op) return recent;
    return recent = look_up(op);
  }

  // Of a number that is not kOther.
  std::string_view op(uint16_t number) const { return ops_[number]; }
  OpKinds kinds(uint16_t number) const { return kinds_[number]; }
  size_t size() const { return ops_.size(); }

 private:
  static constexpr size_t kRecent = 256;
  static size_t slot(std::string_view op) {
    if (op.empty()) return 0;
    return (op.size() * 31 + static_cast<unsigned char>(op.front()) * 7 +
            static_cast<unsigned char>(op.back())) %
           kRecent;
  }
  uint16_t look_up(std::string_view op);
  void place(uint16_t number);

  std::vector<std::string_view> ops_;
  std::vector<OpKinds> kinds_;
  std::vector<uint32_t> slots_;  // number + 1 by hash, 0 for a free slot
  std::array<uint16_t, kRecent> recent_{};
};

}  // namespace gedit
