// `--verify` of the edits that must not change numbers: the result, written and read again, is proved before
// it takes its place (docs/rules.md#prove-verify).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/options.h"
#include "prove/verify.h"

namespace gedit {

// A model as it was read; it stays so while that is edited.
class Original {
 public:
  explicit Original(const Model& model);
  Model model() const;

 private:
  std::string path_, folder_;
  Kind kind_;
  size_t selected_;
  std::string_view message_;
  std::shared_ptr<const InputFile> file_;
  std::shared_ptr<Arena> arena_;  // of what was no binary file
};

class Verifying {
 public:
  // What is to be proved of one MetaGraph, which both have selected. May give `before` the values of its
  // variables.
  using What = std::function<Verification(ProofSide& before, const ProofSide& after)>;

  void setup(CommandLine& line);  // --verify
  bool wanted() const { return wanted_; }

  // To be called with what was read, before it is edited.
  void read(const Model& model);

  // From here on what `output` writes is proved against what was read, where that is wanted: of the MetaGraph
  // that is selected `what`, by default that everything is the same under its name, and that of all others,
  // where both have as many.
  void prepare(InputOptions& input, OutputOptions& output, const What& what = {}) const;

  static Verified one(InputOptions& input, Model& before, Model& after, const What& what);

 private:
  bool wanted_ = false;
  std::optional<Original> original_;
};

}  // namespace gedit
