// Any bytes as a graph are refused in one line, or written again as they are, can be checked and compared,
// and are still a graph after an edit.
#include <cstdint>
#include <string>
#include <string_view>

#include "check/check.h"
#include "diff/diff.h"
#include "edit/edits.h"
#include "fuzzed.h"
#include "model/model.h"
#include "prove/prove.h"

namespace gedit {
namespace {

// A graph never differs from itself; what is not known may stay so.
void check_proof(Kind kind, std::string_view message, Registry& ops) {
  Model a = model_of_bytes(kind, message), b = model_of_bytes(kind, message);
  a.graph().decode();
  ProofRequest request;
  for (uint32_t i = 0; i < a.graph().size() && request.outputs.size() < 8; ++i) {
    const std::string name(a.graph().name(NodeId{i}));
    request.outputs.push_back({name, name});
  }
  for (const OutputProof& output : prove({a, ops}, {b, ops}, request).outputs)
    require(output.verdict != ProofVerdict::kDiffers);
}

void check_graph(Kind kind, std::string_view message) {
  accepted([&] {
    Model model = model_of_bytes(kind, message);
    if (kind == Kind::kSavedModel && model.meta_graphs.empty()) return;
    // A field that protobuf would merge is merged on reading; after that nothing changes any more.
    const std::string merged = written(model);
    require(merged == message || model.edited());
    require(written(model_of_bytes(kind, merged)) == merged);
    Registry builtin = builtin_registry();
    check(model, model.selected, builtin, {.fetch = {}, .security = true});
    Registry ops;
    RenameRequest request;
    request.pairs = {"/=p/"};
    rename(model, ops, request);
    const std::string renamed = written(model);
    Model again = model_of_bytes(kind, renamed);
    again.graph().decode();
    model.graph().decode();
    require(again.graph().size() == model.graph().size());
    require(written(again) == renamed);
    Model before = model_of_bytes(kind, merged);
    diff_models(before, again, builtin, builtin);
    StringSink lines;
    diff_json(diff_models(again, before, builtin, builtin), lines);
    check_proof(kind, merged, builtin);
  });
}

}  // namespace

void fuzz_graph(const uint8_t* data, size_t size) {
  for (const Kind kind : kKinds) check_graph(kind, as_text(data, size));
}

}  // namespace gedit
