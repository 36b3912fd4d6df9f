// A checkpoint's values of a model's variables, for who proves something of the model.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "edit/savers/values.h"
#include "prove/prove.h"

namespace gedit {

class CheckpointValues final : public KnownValues {
 public:
  // `checkpoint`: as a user names it; empty: there is none. It is opened when the first variable is asked
  // for. Model and ops outlive it.
  CheckpointValues(Model& model, Registry& ops, std::string checkpoint)
      : model_(model), ops_(ops), checkpoint_(std::move(checkpoint)) {}

  std::optional<KnownValue> find(NodeId variable) override;

 private:
  Model& model_;
  Registry& ops_;
  std::string checkpoint_;
  std::optional<Facts> facts_;
  std::optional<VariableValues> values_;
};

}  // namespace gedit
