#include "edit/savers/checkpoint_values.h"

#include "checkpoint/open.h"

namespace gedit {

std::optional<KnownValue> CheckpointValues::find(NodeId variable) {
  if (checkpoint_.empty()) return std::nullopt;
  if (!values_) {
    model_.graph().decode();
    facts_.emplace(model_, ops_);
    values_.emplace(*facts_, std::make_shared<ValueSource>(open_checkpoint(checkpoint_)), checkpoint_);
  }
  return values_->stored(variable);
}

}  // namespace gedit
