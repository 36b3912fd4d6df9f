// Every op with other numbers of inputs than it takes, through what asks a node for its inputs by their
// places: refused, told or left alone. With sanitizers, who looks behind the last of them is seen.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "check/check.h"
#include "edit/retargeting/retarget.h"
#include "listed_model.h"
#include "optimize/optimize.h"
#include "shape/infer.h"

namespace gedit::arity_test {

const std::string kFunction =
    "function f(x: DT_FLOAT) -> (y: DT_FLOAT)\n  z = Identity(x) {T: DT_FLOAT}\n  return y = "
    "z:output:0\nend\n";

// What an attribute without a default is, by its type.
const std::map<std::string_view, std::string> kValues{
    {"type", "DT_FLOAT"},
    {"int", "1"},
    {"bool", "true"},
    {"float", "0.5"},
    {"string", "\"SAME\""},
    {"shape", "[2]"},
    {"func", "func f"},
    {"tensor", "tensor(DT_FLOAT [], 1.0)"},
    {"list(type)", "list(DT_FLOAT)"},
    {"list(int)", "list(1)"},
    {"list(float)", "list(0.5)"},
    {"list(string)", "list(\"BiasAdd\")"},
    {"list(shape)", "list([2])"},
    {"list(func)", "list(func f)"},
};

std::string node(const std::string& name, const OpDef& op, size_t inputs) {
  std::string line = name + " = " + std::string(op.name) + "(";
  for (size_t i = 0; i < inputs; ++i) line += i == 0 ? "x" : ", x";
  line += ") {";
  for (const AttrDef& attr : op.attrs) {
    const auto value = kValues.find(attr.type);
    if (attr.has_default || value == kValues.end()) continue;
    line += (line.ends_with('{') ? "" : ", ") + std::string(attr.name) + ": " + value->second;
  }
  return line + "}\n";
}

// A node of each op, with as many inputs as `of` says of those that it takes.
template <typename Of>
std::string all_ops(std::vector<std::string>& names, Of of) {
  Registry ops;
  ops.add_builtin();
  std::string listing = "x = Placeholder() {dtype: DT_FLOAT, shape: [2,2]}\n";
  ops.each_name([&](std::string_view name) {
    const OpDef op = parse_op_def(ops.find(name));
    names.push_back("n" + std::to_string(names.size()));
    listing += node(names.back(), op, of(op.inputs.size()));
  });
  return listing + kFunction;
}

template <typename Use>
void with_model(const std::string& listing, Use use) {
  Model model = listed_model(listing);
  Registry ops;
  ops.add_builtin();
  ops.add_library([&] { return model.graph().part(graph_field::kLibrary); });
  try {
    use(model, ops);
  } catch (const Error&) {  // refusing is right; crashing is not
  }
}

template <typename Of>
void look_at_all(Of of) {
  std::vector<std::string> names;
  const std::string listing = all_ops(names, of);
  ASSERT_GT(names.size(), 1000);
  with_model(listing, [](Model& model, Registry& ops) { const Inference inference(model.graph(), ops); });
  with_model(listing, [](Model& model, Registry& ops) {
    EXPECT_GT(check(model, model.selected, ops, {.fetch = {}, .security = true}).size(), 100);
  });
  for (const char* release : {"1.0", "1.4", "1.8", "1.12", "1.15", "2.3", "2.12"}) {
    with_model(listing, [&](Model& model, Registry& ops) {
      EXPECT_FALSE(retarget(model, ops, {.release = release, .inlined = true}).obstacles.empty());
    });
  }
  OptimizeRequest request;
  request.outputs = names;
  request.passes = {.branches = true,
                    .algebra = true,
                    .dropout = true,
                    .fold = true,
                    .share = true,
                    .any_dropout = true,
                    .controls = true,
                    .drops = {true, true, true, true}};
  request.fold_norms = true;
  with_model(listing, [&](Model& model, Registry& ops) {
    Model before = model;
    optimize(model, before, ops, request);
  });
}

TEST(Arity, WithoutInputs) {
  look_at_all([](size_t) { return 0; });
}

TEST(Arity, OneTooFew) {
  look_at_all([](size_t inputs) { return inputs - (inputs > 0 ? 1 : 0); });
}

TEST(Arity, OneTooMany) {
  look_at_all([](size_t inputs) { return inputs + 1; });
}

}  // namespace gedit::arity_test
