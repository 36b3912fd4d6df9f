#include "optimize/rounds.h"

#include "optimize/sweep.h"

namespace gedit::optimizing {
namespace {

// Every sweep but the last makes the graph smaller, so that few are needed; a graph made to need many is left
// as far as it came.
constexpr int kMostSweeps = 200;

}  // namespace

std::vector<Number> asked_of(const Subject& subject) {
  std::vector<Number> asked = subject.asked;
  for (const In& in : subject.returned) {
    if (!in.argument()) asked.push_back(in.node);
  }
  return asked;
}

bool sweep_until_settled(Subject& subject, Classes& classes, std::optional<Flow> flow) {
  bool any = false;
  for (int i = 0; i < kMostSweeps; ++i) {
    if (!flow) flow.emplace(subject.net, subject.effects, asked_of(subject), subject.untouched);
    Sweep sweep(subject, *flow, classes);
    if (!sweep.run()) break;
    any = true;
    if (sweep.settled()) break;
    flow.reset();
  }
  return any;
}

}  // namespace gedit::optimizing
