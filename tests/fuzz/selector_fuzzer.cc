// Any text as a selector is refused in one line, or hits what it hits each time, within a graph that has
// something of every kind.
#include "fuzzed.h"
#include "model/listing.h"
#include "select/selection.h"

namespace gedit {
namespace {

constexpr std::string_view kGraph =
    R"(x = Placeholder() {dtype: DT_FLOAT, shape: [?,4]}
w = VariableV2() {dtype: DT_FLOAT, shape: [4,2], container: "", shared_name: ""}
w/read = Identity(w) {T: DT_FLOAT, _class: ["loc:@w"]}
conv1/MatMul = MatMul(x, w/read) {T: DT_FLOAT}
conv1/Relu = Relu(conv1/MatMul) @/device:GPU:0 {T: DT_FLOAT}
call = F(conv1/Relu, ^init)
init = NoOp()

function F(a: float) -> (b: float) {
  double = Add(a, a) {T: DT_FLOAT}
  return b = double:z:0
}
)";

}  // namespace
void fuzz_selector(const uint8_t* data, size_t size) {
  const std::string text(as_text(data, size));
  // `@file` opens what it names.
  if (text.find('@') != std::string::npos) return;
  accepted([&] {
    const Selector selector = parse_selector(text);
    const ParsedListing parsed = parse_listing(kGraph, "fuzz.gtxt", nullptr);
    Model model = decoded_model(parsed.kind, parsed.message);
    Registry ops = builtin_registry();
    Selecting selecting(model, ops);
    const Selection first = selecting.evaluate(selector);
    require(first.count() == selecting.evaluate(selector).count());
  });
}

}  // namespace gedit
