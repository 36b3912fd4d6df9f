// Sweeps over one net until nothing changes any more.
#pragma once

#include "optimize/subject.h"

namespace gedit::optimizing {

// Whether anything changed. Nodes that nothing asked for needs stay in the net. `flow`: of the net as it is,
// where it is known. Throws Error (kRefused) for a cycle.
bool sweep_until_settled(Subject& subject, Classes& classes, std::optional<Flow> flow = {});

// All that counts: what is asked for, and what a function returns.
std::vector<Number> asked_of(const Subject& subject);

// Adds to `counts` why nodes went: those that were there and for which gone(n) is true.
template <typename Gone>
void count_reasons(const Subject& subject, uint32_t nodes, Counts& counts, Gone gone) {
  uint64_t unneeded = 0;
  std::vector<uint64_t> found(subject.reasons().size());
  for (Number n = 0; n < nodes; ++n) {
    if (!gone(n)) continue;
    const std::optional<size_t> reason = subject.reason_of(n);
    ++(reason ? found[*reason] : unneeded);
  }
  if (unneeded > 0) counts["unneeded"]["nodes"] += unneeded;
  for (size_t i = 0; i < found.size(); ++i) {
    const Reason& reason = subject.reasons()[i];
    if (found[i] > 0) counts[reason.section][std::string(reason.word)] += found[i];
  }
}

}  // namespace gedit::optimizing
