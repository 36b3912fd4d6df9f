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

namespace {

using gedit::Kind;
using gedit::Model;
using gedit::model_of_bytes;
using gedit::require;
using gedit::written;

// A graph never differs from itself; what is not known may stay so.
void check_proof(Kind kind, std::string_view message, gedit::Registry& ops) {
  Model a = model_of_bytes(kind, message), b = model_of_bytes(kind, message);
  a.graph().decode();
  gedit::ProofRequest request;
  for (uint32_t i = 0; i < a.graph().size() && request.outputs.size() < 8; ++i) {
    const std::string name(a.graph().name(gedit::NodeId{i}));
    request.outputs.push_back({name, name});
  }
  for (const gedit::OutputProof& output : gedit::prove({a, ops}, {b, ops}, request).outputs)
    require(output.verdict != gedit::ProofVerdict::kDiffers);
}

void check(Kind kind, std::string_view message) {
  gedit::accepted([&] {
    Model model = model_of_bytes(kind, message);
    if (kind == Kind::kSavedModel && model.meta_graphs.empty()) return;
    // A field that protobuf would merge is merged on reading; after that nothing changes any more.
    const std::string merged = written(model);
    require(merged == message || model.edited());
    require(written(model_of_bytes(kind, merged)) == merged);
    gedit::Registry builtin = gedit::builtin_registry();
    gedit::check(model, model.selected, builtin, {.fetch = {}, .security = true});
    gedit::Registry ops;
    gedit::RenameRequest request;
    request.pairs = {"/=p/"};
    gedit::rename(model, ops, request);
    const std::string renamed = written(model);
    Model again = model_of_bytes(kind, renamed);
    again.graph().decode();
    model.graph().decode();
    require(again.graph().size() == model.graph().size());
    require(written(again) == renamed);
    Model before = model_of_bytes(kind, merged);
    gedit::diff_models(before, again, builtin, builtin);
    gedit::StringSink lines;
    gedit::diff_json(gedit::diff_models(again, before, builtin, builtin), lines);
    check_proof(kind, merged, builtin);
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const Kind kind : gedit::kKinds) check(kind, gedit::as_text(data, size));
  return 0;
}
