// gedit checkpoint diff: which tensors changed, and by how much.
#include "base/error.h"
#include "base/file.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/weights.h"
#include "commands.h"
#include "weights/difference.h"
#include "weights/import.h"

namespace gedit {
namespace {

class DiffWeights final : public Command {
 public:
  void setup(CommandLine& line) override {
    line.add_option("A", a_, "A checkpoint, safetensors, npz, a folder of .npy, a graph's constants")
        ->required();
    line.add_option("B", b_, "Another one")->required();
    line.add_option("-s,--select", selector_, "These alone, by the names in A")->type_name("SELECTOR");
    tolerance_option_ = line.add_option("--tolerance", tolerance_,
                                        "Exit status 0 up to this relative L2 difference of each tensor")
                            ->type_name("R");
    line.add_option("--cast", cast_, "Compare floating point numbers as this type")->type_name("DTYPE");
    line.add_flag("--bytes", bytes_, "Read what has equal checksums, too");
    line.add_flag("-j,--json", json_, "As JSON");
    part_.setup(line);
    line.add_flag("-q,--quiet", quiet_, "The exit status alone");
  }

  int run() override {
    if (tolerance_option_->count() != 0 && !(tolerance_ >= 0))
      throw Error(Cause::kUsage, "is no number from 0 on").of("--tolerance");
    Weights a = read_weights(a_, quiet_), b = read_weights(b_, quiet_);
    if (!selector_.empty()) keep_weights(a, require_weights(a, selector_));
    keep_part(a, part_.part());
    if (!selector_.empty() || part_.part().count > 1) {
      std::vector<bool> there;
      for (const Weight& weight : b.weights) there.push_back(a.find(weight.name) != nullptr);
      keep_weights(b, there);
    }
    if (!cast_.empty()) {
      cast_weights(a, floating_type("--cast", cast_));
      cast_weights(b, floating_type("--cast", cast_));
    }
    const WeightsDifference found = [&] {
      const Progress comparing("comparing values", quiet_);
      return difference(a, b, bytes_);
    }();
    if (!quiet_) report(found);
    return answer(found);
  }

 private:
  void report(const WeightsDifference& found) const {
    OutputFile out("-", true);
    if (json_) {
      print_difference_json(found, out);
    } else {
      print_difference(found, a_, b_, out);
    }
    out.commit();
    if (!found.unread.empty())
      say_note("not compared: " + std::to_string(found.unread.size()) + " tensors of strings");
    if (!json_ && !found.any()) say("tensors " + std::to_string(found.compared) + ": no difference");
  }

  int answer(const WeightsDifference& found) const {
    if (!found.only_a.empty() || !found.only_b.empty() || !found.unlike.empty()) return 1;
    if (found.changed.empty()) return 0;
    return found.changed.front().relative <= tolerance_ ? 0 : 1;
  }

  std::string a_, b_, selector_, cast_;
  Option* tolerance_option_ = nullptr;
  double tolerance_ = -1;  // none: no change is allowed
  bool bytes_ = false, json_ = false, quiet_ = false;
  PartOption part_;
};

}  // namespace

CommandInfo checkpoint_diff_command() {
  return {
      .summary = "tells which tensors changed, and by how much",
      .synopsis = "A B [-s SELECTOR] [--tolerance R] [-j]",
      .text = R"(
A line a tensor that changed, the largest first: |a - b| / |a| in L2, the largest |difference|, how many elements
differ. Then what one side alone has, and what has another type or shape. A NaN equals a NaN. Tensors with equal
checksums are not read, unless --bytes. Exit status 1 where there is a difference; --tolerance R allows changes up
to R.
)",
      .examples = R"(
gedit checkpoint diff model.ckpt-1000 model.ckpt-2000
gedit checkpoint diff model model.safetensors --tolerance 1e-6
)",
      .make = make_command<DiffWeights>,
  };
}

}  // namespace gedit
