#include "cli/wanted.h"

#include "edit/changing/wanted_tensors.h"

namespace gedit {

void WantedOptions::setup(CommandLine& line) {
  line.add_option("--outputs", outputs_, "Keep these tensors or ops and all that they need")
      ->type_name("T,..")
      ->one_each();
  line.add_option("--signature", signature_,
                  "Instead: the outputs and inputs of this signature; default: the only one of a SavedModel")
      ->type_name("KEY");
  line.add_option("--inputs", inputs_,
                  "Cut there: these become Placeholders; :DTYPE[SHAPE] states their type")
      ->type_name("T[:DTYPE[SHAPE]],..")
      ->one_each();
}

Verification WantedOptions::unchanged(const ProofSide& before, const ProofSide& after,
                                      const std::vector<std::pair<std::string, std::string>>& cut) const {
  Verification what;
  what.outputs = named_outputs(
      before, after,
      wanted_tensors(before.model, split_list(outputs_), split_list(inputs_), signature_).outputs);
  for (const auto& [tensor, placeholder] : cut) what.same.push_back({tensor, placeholder});
  return what;
}

}  // namespace gedit
