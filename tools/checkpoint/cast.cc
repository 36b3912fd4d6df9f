// gedit checkpoint cast: floating point numbers of another type.
#include "base/error.h"
#include "cli/checkpoints.h"
#include "cli/rewriting.h"
#include "cli/say.h"
#include "commands.h"
#include "weights/rewrite.h"

namespace gedit {
namespace {

class CastWeights final : public Command {
 public:
  void setup(CommandLine& line) override {
    operand_.setup(line);
    line.add_option("--to", to_, "float16, bfloat16, float32 or float64")
        ->required()
        ->offers({"float16", "bfloat16", "float32", "float64"})
        ->type_name("DTYPE");
    line.add_option("-s,--select", selector_, "These alone (default: all that are floating point)")
        ->type_name("SELECTOR");
    rewriting_.setup(line);
    target_.setup(line);
    operand_.setup_quiet(line);
  }

  int run() override {
    const DType to = floating_type("--to", to_);
    rewriting_.run(operand_, target_, [&](const Weights& weights, std::vector<NewTensor>& tensors) {
      const std::vector<bool> hits = rewriting_.hits(weights, selector_);
      if (cast_tensors(tensors, hits, to) == 0)
        throw refused("no floating point number of another type").in(weights.path);
      if (!operand_.quiet() && to != DType::kFloat)
        say_note("a graph whose variables keep their type does not restore it");
    });
    return 0;
  }

 private:
  CheckpointOperand operand_;
  CheckpointTarget target_;
  RewritingOptions rewriting_;
  std::string to_, selector_;
};

}  // namespace

CommandInfo checkpoint_cast_command() {
  return {
      .summary = "changes floating point numbers to half precision or back",
      .synopsis = "CKPT --to DTYPE [-s SELECTOR] -o PREFIX",
      .text = R"(
Rounds to the nearest, ties to even, bit by bit as TensorFlow's Cast; what is too large becomes infinite, and is
told. Integers, strings and the object graph stay. The result restores into variables of the new type only: gedit
cast changes a graph with its weights.
)",
      .examples = R"(
gedit checkpoint cast model --to bfloat16 -s 'dtype:float32 & !**/gamma' -o half
gedit checkpoint cast half --to float32 -o model
)",
      .make = make_command<CastWeights>,
  };
}

}  // namespace gedit
