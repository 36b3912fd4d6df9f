// Collections that know copies as they know the originals: docs/rules.md#copy-collections.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/collections.h"

namespace gedit {

// What was copied, by names as they stand in the messages: `x`, `x:0`.
class CopiedNames {
 public:
  CopiedNames() = default;
  CopiedNames(const CopiedNames&) = delete;
  CopiedNames& operator=(const CopiedNames&) = delete;
  virtual ~CopiedNames() = default;

  // Whether the node, or the tensor's node, has a copy.
  virtual bool copied(std::string_view name) const = 0;
  // Appends what the name becomes in the copy of a message. False: it has no copy, and is left out;
  // `outside`: then it may be the original's, or what stands for it.
  virtual bool append(NameKind kind, std::string_view name, bool outside, std::string& out) const = 0;
};

// Every collection of `all`, which are the model's, gains the copies of its items, behind them: names, and
// messages whose subjects are copied. One of one item keeps its item. Returns the keys of those that grew.
std::vector<std::string> extend_collections(MetaGraph& meta, const std::vector<Collection>& all,
                                            const CopiedNames& copies);

}  // namespace gedit
