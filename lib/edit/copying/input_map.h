// What the copies read instead of tensors from outside: docs/rules.md#copy-inputs-from-outside.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "edit/copying/reads.h"

namespace gedit {

class CopyInputMap {
 public:
  explicit CopyInputMap(const CopyReads& reads) : reads_(reads) {}

  // Decides what each KEY becomes, which `inputs` tells; warns of shapes that cannot agree. Throws Error
  // (kRefused) for a KEY that nothing copied reads, a VALUE that is none or of another type, one of them in a
  // loop or branch in which the other is not, a cycle.
  void apply(std::map<std::string, std::string>& inputs, std::vector<std::string>& warnings);

  // Behind an input of another, or an unknown, shape what was inferred for the original no longer holds;
  // TensorFlow would refuse the copy at import.
  void drop_stale_shapes();

  bool maps(const TensorRef& key) const { return mapped_.contains(key); }

 private:
  // The original of a VALUE: a tensor that is there, or of the copy by its new name.
  struct Value {
    TensorRef tensor;  // of the original
    bool of_copy;
    std::string text;
  };
  Value find_value(const std::string& written) const;
  Shape shape(const TensorRef& tensor) const;
  using Values = std::vector<std::pair<TensorRef, Value>>;  // by KEY, as they were named
  void check_types(const Values& values) const;
  // A copy reads, by way of copies and mapped inputs, itself.
  void check_cycles(const Values& values) const;

  const CopyReads& reads_;
  std::unordered_map<TensorRef, TensorRef, TensorHash> mapped_;  // VALUEs by KEY
  std::vector<TensorRef> changed_;  // KEYs whose VALUE is of another type or shape
};

}  // namespace gedit
