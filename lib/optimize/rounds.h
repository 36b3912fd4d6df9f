// Sweeps over one net until nothing changes any more.
#pragma once

#include "optimize/subject.h"

namespace gedit::optimizing {

// Whether anything changed. Nodes that nothing asked for needs stay in the net. Throws Error (kRefused) for a
// cycle.
bool sweep_until_settled(Subject& subject, Classes& classes);

// All that counts: what is asked for, and what a function returns.
std::vector<Number> asked_of(const Subject& subject);

// Adds to `counts` why nodes went: those that were there and for which gone(n) is true.
template <typename Gone>
void count_reasons(const Subject& subject, uint32_t nodes, Counts& counts, Gone gone) {
  for (Number n = 0; n < nodes; ++n) {
    if (!gone(n)) continue;
    const Reason reason = n < subject.reasons.size() ? subject.reasons[n] : Reason();
    if (reason.section == nullptr) {
      ++counts["unneeded"]["nodes"];
    } else {
      ++counts[reason.section][std::string(reason.word)];
    }
  }
}

}  // namespace gedit::optimizing
