// Random numbers of a seed: newer releases make a key and a counter of it in a node of its own, older ones in
// the op that draws (docs/tensorflow.md#random-numbers-of-a-seed).
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "edit/retargeting/rewriting.h"

namespace gedit {

// The nodes of a graph that make keys, and whether all who read one can take the seed itself.
class SeedKeys {
 public:
  // Linear in the graph.
  explicit SeedKeys(Rewriting& in);

  // A clause about the node that makes keys: `node 'x' reads its key`. Empty where all take the seed.
  std::string why_not(std::string_view maker) const;

 private:
  std::unordered_map<std::string, std::string> makers_;
};

}  // namespace gedit
