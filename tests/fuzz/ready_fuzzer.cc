// Any bytes as a graph that is made ready: optimized by all passes and proved, retargeted, its shapes,
// operations and what describes it told. What comes out is a graph.
#include "edit/retargeting/retarget.h"
#include "fuzzed.h"
#include "model/summary.h"
#include "optimize/certify.h"
#include "shape/flops.h"

namespace gedit {
namespace {

class Readied {
 public:
  Readied(Kind kind, std::string_view message) : kind_(kind), message_(message) {}

  void run() const {
    accepted([&] {
      Model model = fresh();
      Registry ops = builtin_registry();
      Inference inference(model.graph(), ops);
      count_flops(model.graph(), inference, 2);
      summarize(model, model.selected, ops);
      runs_on(model, model.selected, ops);
    });
    for (const char* release : {"1.4", "1.15", "2.3"}) {
      for (const bool inlined : {false, true}) {
        accepted([&] {
          Model model = fresh();
          Registry ops = builtin_registry();
          retarget(model, ops, {.release = release, .inlined = inlined});
          is_graph(model);
        });
      }
    }
    OptimizeRequest request;
    request.passes = {.branches = true,
                      .algebra = true,
                      .dropout = true,
                      .fold = true,
                      .share = true,
                      .any_dropout = false,
                      .controls = true,
                      .drops = {true, true, true, true}};
    optimized(request);
    request.inlined = request.lowered = request.sort = request.fold_norms = true;
    request.passes.any_dropout = true;
    request.fixes = {"auto"};
    request.strip = {true, true, true, true, true, true};
    optimized(request);
  }

 private:
  Model fresh() const { return decoded_model(kind_, message_); }
  void is_graph(const Model& model) const {
    const std::string message = written(model);
    decoded_model(kind_, message);
  }

  // The last node's output.
  void optimized(OptimizeRequest request) const {
    accepted([&] {
      Model model = fresh();
      if (model.graph().size() == 0) return;
      request.outputs = {std::string(model.graph().name(NodeId{model.graph().size() - 1}))};
      Registry ops = builtin_registry();
      is_graph(optimize_proved(model, ops, request, true).model);
    });
  }

  Kind kind_;
  std::string message_;
};

}  // namespace
void fuzz_ready(const uint8_t* data, size_t size) { run_on_messages<Readied>(data, size); }

}  // namespace gedit
