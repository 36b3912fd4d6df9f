// What the copies read, tensor by tensor.
#pragma once

#include <string>
#include <vector>

#include "edit/copying/mapping.h"
#include "edit/copying/selection.h"

namespace gedit {

// All of them outlive it.
struct CopyReads {
  Facts& facts;
  const CopySelection& selection;
  CopyMapping& mapping;
  const std::vector<NodeId>& copies;  // the originals

  // Reads of a tensor by copies: use(reader, slot, tensor).
  template <typename Use>
  void each(Use use) const {
    for (const NodeId reader : copies) {
      size_t slot = 0;
      each_input(facts.graph().bytes(reader), [&](std::string_view text) {
        if (const std::optional<TensorRef> tensor = facts.tensors().of_input(text))
          use(reader, slot, *tensor);
        ++slot;
      });
    }
  }

  DType input_type(NodeId reader, size_t slot) const {
    const auto types = input_types(facts.ops, facts.graph().bytes(reader));
    return types && slot < types->size() ? (*types)[slot] : DType::kInvalid;
  }

  std::string text(const TensorRef& tensor) const { return facts.tensors().text(tensor); }
  std::string copy_name(NodeId id) const { return mapping.scope().of(facts.graph().name(id)); }
};

}  // namespace gedit
