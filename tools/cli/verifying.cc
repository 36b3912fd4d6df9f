#include "cli/verifying.h"

namespace gedit {

Original::Original(const Model& model)
    : path_(model.path),
      folder_(model.folder),
      kind_(model.kind),
      selected_(model.selected),
      message_(model.message),
      file_(model.file),
      arena_(model.arena) {}

Model Original::model() const {
  Model model = model_of(path_, kind_, Format::kBinary, message_, std::make_shared<Arena>());
  model.folder = folder_;
  model.selected = selected_;
  model.file = file_;
  model.keeps = arena_;
  return model;
}

void Verifying::setup(CommandLine& line) {
  line.add_flag("--verify", wanted_, "Prove that the result computes the same before it takes its place");
}

void Verifying::read(const Model& model) {
  if (wanted_) original_.emplace(model);
}

Verified Verifying::one(InputOptions& input, Model& before, Model& after, const What& what) {
  Registry ops_before = input.registry(before), ops_after = input.registry(after);
  ProofSide side{before, ops_before};
  const ProofSide written{after, ops_after};
  return with_file(after, [&] { return verify(side, written, what ? what(side, written) : Verification{}); });
}

void Verifying::prepare(InputOptions& input, OutputOptions& output, const What& what) const {
  if (!wanted_) return;
  output.verify = [&input, original = *original_, what](Model& after) {
    Model before = original.model();
    Verified verified;
    if (before.meta_graphs.size() == after.meta_graphs.size()) {
      // The edit was of one of them; of the others everything is as it was.
      const size_t edited = before.selected;
      for (size_t i = 0; i < before.meta_graphs.size(); ++i) {
        before.selected = after.selected = i;
        verified += one(input, before, after, i == edited ? what : What());
      }
    } else {
      verified += one(input, before, after, what);
    }
    return verified.text();
  };
}

}  // namespace gedit
