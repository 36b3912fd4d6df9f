#include "edit/changing/wanted_tensors.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/message_edit.h"
#include "base/near.h"
#include "edit/basis/names.h"
#include "edit/objects/signature_parts.h"
#include "model/references.h"
#include "ops/kinds.h"
#include "select/tensors.h"

namespace gedit {
namespace {

// Collects the tensors that a signature names.
class TensorNames final : public NameMap {
 public:
  bool map(NameKind, std::string_view name, std::string& out) const override {
    names_.emplace_back(name);
    out += name;
    return true;
  }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  mutable std::vector<std::string> names_;  // a NameMap only maps; this one only listens
};

std::vector<std::string> tensors_of(std::string_view signature, uint32_t side) {
  TensorNames names;
  map_names(only_fields(signature, [&](const Field& field) { return field.bytes(side); }), kSignatureDef,
            names);
  return names.take();
}

// A Placeholder stays, needed or not, so that the signature does; anything else is cut there.
void take_signature_input(const Facts& facts, const std::string& text, WantedTensors& wanted,
                          std::vector<NodeId>& fed) {
  const std::optional<TensorRef> tensor = tensor_if_there(facts.names(), text);
  const bool placeholder = tensor && is_placeholder_op(node_op(facts.graph().bytes(tensor->node)));
  if (!placeholder) {
    wanted.inputs.push_back(text);
    return;
  }
  const auto stated = [&](const std::string& input) {
    return tensor_if_there(facts.names(), parse_typed_tensor(input).name) == tensor;
  };
  if (std::none_of(wanted.inputs.begin(), wanted.inputs.end(), stated)) fed.push_back(tensor->node);
}

}  // namespace

WantedTensors wanted_tensors(const Model& model, const std::vector<std::string>& outputs,
                             const std::vector<std::string>& inputs, const std::string& signature) {
  WantedTensors wanted{outputs, inputs, {}};
  if (!signature.empty() && !outputs.empty())
    throw Error(Cause::kUsage, "--outputs and --signature exclude each other");
  std::vector<std::string> keys;
  Near near(signature);
  std::optional<std::string_view> found;
  for (const std::string_view bytes : model.meta().parts_of(meta_field::kSignature)) {
    const MapEntry entry = map_entry(bytes);
    if (entry.key.starts_with("__saved_model_")) continue;
    keys.emplace_back(entry.key);
    near.offer(entry.key);
    if (entry.key == signature) found = entry.value;
    if (signature.empty() && model.kind == Kind::kSavedModel) found = entry.value;
  }
  if (!outputs.empty()) return wanted;
  if (signature.empty() && keys.size() != 1) {
    std::sort(keys.begin(), keys.end());
    std::string hint;
    for (const std::string& one : keys) hint += (hint.empty() ? "" : ", ") + printable(one);
    throw Error(Cause::kUsage, "what is to be kept?")
        .hint(keys.empty() ? "--outputs T,.." : "--outputs T,.., or --signature with one of: " + hint);
  }
  if (!found) {
    if (signature.empty())
      throw Error(Cause::kUsage, "what is to be kept?").hint("--outputs T,.., or --signature " + keys[0]);
    throw refused("no such signature").of(quoted("signature", signature)).hint(near.did_you_mean_or_all());
  }
  wanted.outputs = tensors_of(*found, signature_field::kOutput);
  wanted.of_signature = tensors_of(*found, signature_field::kInput);
  if (wanted.outputs.empty()) throw refused("has no outputs").of(quoted("signature", signature));
  return wanted;
}

std::vector<NodeId> cut_at_signature(const Facts& facts, WantedTensors& wanted) {
  std::vector<NodeId> fed;
  for (const std::string& text : wanted.of_signature) take_signature_input(facts, text, wanted, fed);
  return fed;
}

}  // namespace gedit
