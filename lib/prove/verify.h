// What an edit wrote, against what it was made of (docs/rules.md#prove-verify). An edit that must not change
// numbers:
//
//   const Verified verified = verify({before, ops_before}, {after, ops_after}, {.same = cut});
//
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "prove/prove.h"

namespace gedit {

struct Verification {
  // Without any: whatever the graph before gives and does, all that no node of it reads, and what signatures
  // of both feed and fetch.
  std::optional<std::vector<OutputPair>> outputs{};
  // What nodes are called afterwards, inputs and state among them; one that is not here has its old name.
  std::vector<std::pair<std::string, std::string>> names{};
  std::vector<std::pair<std::string, std::string>> signatures{};  // keys that are others afterwards
  std::vector<OutputPair> same{};  // tensors that are taken to be the same: where a part was cut out
  // Nodes of before that are meant to be others now. What comes of them is only proved where it is asked for.
  std::vector<std::string> changed{};
  // The edit may build things otherwise that compute the same: only a constant or an attribute that is
  // another is refused, the rest is unknown.
  bool rebuilt = false;
  // Attributes may be others as well, and the constants of nodes that were put in.
  bool reworked = false;
  std::vector<GivenValue> given{};  // known of both
};

struct Verified {
  uint64_t proved = 0;    // tensors
  uint64_t unknown = 0;   // of which nothing can be said
  std::string what, why;  // the first of these
  Verified& operator+=(const Verified& other);
  std::string text() const;  // `verified: 12 proved, 3 unknown: 'x' has no seed`
};

// Throws Error (kRefused) with the place where the two part, for the first output that is another.
Verified verify(const ProofSide& before, const ProofSide& after, const Verification& request);

// Of what a user names, tensors and ops, what of it is in both under the same name.
std::vector<OutputPair> named_outputs(const ProofSide& before, const ProofSide& after,
                                      const std::vector<std::string>& texts);

// The outputs of a Verification that names none.
std::vector<OutputPair> all_outputs(const ProofSide& before, const ProofSide& after,
                                    const Verification& request);

// Of these, without what is not there afterwards.
std::vector<OutputPair> outputs_that_stay(const ProofSide& before, const ProofSide& after,
                                          const Verification& request);

// Nodes that save and restore, which an edit of a checkpoint's keys changes.
std::vector<std::string> saver_nodes(const ProofSide& side);

// Names before and afterwards where an edit keeps every node at its place and gives some another name.
// Throws Error (kRefused) where there are not as many.
std::vector<std::pair<std::string, std::string>> names_by_place(const ProofSide& before,
                                                                const ProofSide& after);

}  // namespace gedit
