// Sweeps over one net until nothing changes any more.
#pragma once

#include <algorithm>
#include <functional>

#include "base/parallel.h"
#include "optimize/subject.h"

namespace gedit::optimizing {

// Whether anything changed. Nodes that nothing asked for needs stay in the net. `flow`: of the net as it is,
// where it is known. Throws Error (kRefused) for a cycle.
bool sweep_until_settled(Subject& subject, Classes& classes, std::optional<Flow> flow = {});

// All that counts: what is asked for, and what a function returns.
std::vector<Number> asked_of(const Subject& subject);

// Adds to `counts` why nodes went: those that were there and for which gone(n) is true, asked on all cores.
template <typename Gone>
void count_reasons(const Subject& subject, uint32_t nodes, Counts& counts, Gone gone) {
  const size_t reasons = subject.reasons().size();  // behind them: none
  const auto count = [&](PieceRange range) {
    std::vector<uint64_t> found(reasons + 1);
    for (Number n = range.begin; n < range.end; ++n) {
      if (gone(n)) ++found[subject.reason_of(n).value_or(reasons)];
    }
    return found;
  };
  std::vector<uint64_t> all(reasons + 1);
  for (const std::vector<uint64_t>& found : made_in_pieces(nodes, count))
    std::ranges::transform(all, found, all.begin(), std::plus());
  if (all[reasons] > 0) counts["unneeded"]["nodes"] += all[reasons];
  for (size_t i = 0; i < reasons; ++i) {
    const Reason& reason = subject.reasons()[i];
    if (all[i] > 0) counts[reason.section][std::string(reason.word)] += all[i];
  }
}

}  // namespace gedit::optimizing
