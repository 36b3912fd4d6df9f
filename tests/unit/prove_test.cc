// What is proved of small graphs, rule by rule: pairs that compute the same, pairs that do not, and what
// nobody can know (docs/rules.md#prove).
#include "prove/prove.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "listed_model.h"

namespace gedit {
namespace {

struct ProofCase {
  std::string_view about, a, b;  // listings; `y` is compared
  ProofVerdict verdict;
  std::string_view why = "";
};

// In front of both.
constexpr std::string_view kInputs = R"(
x = Placeholder() {dtype: DT_FLOAT}
u = Placeholder() {dtype: DT_FLOAT}
i = Placeholder() {dtype: DT_INT32}
j = Placeholder() {dtype: DT_INT32}
p = Placeholder() {dtype: DT_BOOL}
q = Placeholder() {dtype: DT_BOOL}
n = Const() {dtype: DT_INT32, value: tensor(DT_INT32 [1], 3)}
zero = Const() {dtype: DT_INT32, value: tensor(DT_INT32 [], 0)}
v = VarHandleOp() {dtype: DT_FLOAT, shape: []}
)";

void expect(const std::vector<ProofCase>& cases) {
  for (const ProofCase& one : cases) {
    Model a = listed_model(std::string(kInputs) + std::string(one.a)),
          b = listed_model(std::string(kInputs) + std::string(one.b));
    Registry ops_a, ops_b;
    ops_a.add_library([&] { return a.graph().part(graph_field::kLibrary); });
    ops_a.add_builtin();
    ops_b.add_library([&] { return b.graph().part(graph_field::kLibrary); });
    ops_b.add_builtin();
    ProofRequest request;
    request.outputs = {{"y", "y"}};
    const OutputProof proof = prove({a, ops_a}, {b, ops_b}, request).outputs.at(0);
    EXPECT_EQ(static_cast<int>(proof.verdict), static_cast<int>(one.verdict))
        << one.about << ": " << proof.why;
    EXPECT_NE(proof.why.find(one.why), std::string::npos) << one.about << ": " << proof.why;
  }
}

using enum ProofVerdict;

TEST(Prove, PureOps) {
  expect({
      {"swapped integers", "y = AddV2(i, j) {T: DT_INT32}", "y = AddV2(j, i) {T: DT_INT32}", kProved},
      {"of two NaNs the place decides", "y = AddV2(x, u) {T: DT_FLOAT}", "y = AddV2(u, x) {T: DT_FLOAT}",
       kDiffers},
      {"of +0 and -0 the place decides", "y = Maximum(x, u) {T: DT_FLOAT}", "y = Maximum(u, x) {T: DT_FLOAT}",
       kDiffers},
      {"a default that is written", "y = MatMul(x, u) {T: DT_FLOAT}",
       "y = MatMul(x, u) {T: DT_FLOAT, transpose_a: false}", kProved},
      {"another kernel", "y = MatMul(x, u) {T: DT_FLOAT}",
       "y = MatMul(x, u) {T: DT_FLOAT, _kernel: \"other\"}", kDiffers, "_kernel"},
      {"one kernel", "y = MatMul(x, u) {T: DT_FLOAT, _kernel: \"k\"}",
       "y = MatMul(x, u) {T: DT_FLOAT, _kernel: \"k\"}", kProved},
      {"zeros of other signs",
       "c = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [1], 0.0)}\ny = Mul(x, c) {T: DT_FLOAT}",
       "c = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [1], -0.0)}\ny = Mul(x, c) {T: DT_FLOAT}",
       kDiffers},
      {"an op that nobody knows", "y = MyOp(x) {T: DT_FLOAT}", "y = MyOp(x) {T: DT_FLOAT}", kUnknown,
       "nobody knows"},
      {"Python", "y = PyFunc(x) {Tin: list(DT_FLOAT), Tout: list(DT_FLOAT), token: \"t\"}",
       "y = PyFunc(x) {Tin: list(DT_FLOAT), Tout: list(DT_FLOAT), token: \"t\"}", kUnknown},
  });
}

TEST(Prove, Random) {
  expect({
      {"without a seed", "y = RandomUniform(n) {T: DT_INT32, dtype: DT_FLOAT}",
       "y = RandomUniform(n) {T: DT_INT32, dtype: DT_FLOAT}", kUnknown, "has no seed"},
      {"the same seed", "y = RandomUniform(n) {T: DT_INT32, dtype: DT_FLOAT, seed: 3}",
       "y = RandomUniform(n) {T: DT_INT32, dtype: DT_FLOAT, seed: 3}", kProved},
      {"another seed", "y = RandomUniform(n) {T: DT_INT32, dtype: DT_FLOAT, seed: 3}",
       "y = RandomUniform(n) {T: DT_INT32, dtype: DT_FLOAT, seed: 4}", kDiffers},
      {"one draw is not two",
       "a = RandomUniform(n) {T: DT_INT32, dtype: DT_FLOAT, seed: 3}\n"
       "b = RandomUniform(n) {T: DT_INT32, dtype: DT_FLOAT, seed: 3}\ny = Sub(a, b) {T: DT_FLOAT}",
       "a = RandomUniform(n) {T: DT_INT32, dtype: DT_FLOAT, seed: 3}\ny = Sub(a, a) {T: DT_FLOAT}", kDiffers},
      {"stateless", "y = StatelessRandomUniform(n, n) {T: DT_INT32, dtype: DT_FLOAT}",
       "y = StatelessRandomUniform(n, n) {T: DT_INT32, dtype: DT_FLOAT}", kProved},
      {"in a function that an op names",
       "y = MapDefun(x) {Targuments: list(DT_FLOAT), Tcaptured: list(), f: func drawn, "
       "output_shapes: list([]), output_types: list(DT_FLOAT)}\n"
       "function drawn(a: DT_FLOAT) -> (r: DT_FLOAT)\n  s = Shape(a) {T: DT_FLOAT}\n"
       "  d = RandomUniform(s:output:0) {T: DT_INT32, dtype: DT_FLOAT}\n  return r=d:output:0\nend",
       "y = MapDefun(x) {Targuments: list(DT_FLOAT), Tcaptured: list(), f: func drawn, "
       "output_shapes: list([]), output_types: list(DT_FLOAT)}\n"
       "function drawn(a: DT_FLOAT) -> (r: DT_FLOAT)\n  s = Shape(a) {T: DT_FLOAT}\n"
       "  d = RandomUniform(s:output:0) {T: DT_INT32, dtype: DT_FLOAT}\n  return r=d:output:0\nend",
       kUnknown, "function"},
      {"a dataset's seeds are inputs",
       "k = Const() {dtype: DT_INT64, value: tensor(DT_INT64 [], 0)}\n"
       "d = RangeDataset(k, k, k) {output_shapes: list([]), output_types: list(DT_INT64)}\n"
       "s = ShuffleDataset(d, k, k, k) {output_shapes: list([]), output_types: list(DT_INT64)}\n"
       "y = DatasetToSingleElement(s) {output_shapes: list([]), output_types: list(DT_INT64)}",
       "k = Const() {dtype: DT_INT64, value: tensor(DT_INT64 [], 0)}\n"
       "d = RangeDataset(k, k, k) {output_shapes: list([]), output_types: list(DT_INT64)}\n"
       "s = ShuffleDataset(d, k, k, k) {output_shapes: list([]), output_types: list(DT_INT64)}\n"
       "y = DatasetToSingleElement(s) {output_shapes: list([]), output_types: list(DT_INT64)}",
       kUnknown},
  });
}

TEST(Prove, Deadness) {
  constexpr std::string_view kBranches =
      "s = Switch(x, p) {T: DT_FLOAT}\nno = Neg(s) {T: DT_FLOAT}\nyes = Exp(s:1) {T: DT_FLOAT}\n";
  const std::string a = std::string(kBranches) + "y = Merge(no, yes) {N: 2, T: DT_FLOAT}";
  const std::string swapped = std::string(kBranches) + "y = Merge(yes, no) {N: 2, T: DT_FLOAT}";
  const std::string other =
      "s = Switch(x, q) {T: DT_FLOAT}\nno = Neg(s) {T: DT_FLOAT}\nyes = Exp(s:1) {T: DT_FLOAT}\n"
      "y = Merge(no, yes) {N: 2, T: DT_FLOAT}";
  const std::string wrong = std::string(kBranches) + "y = Merge(s, yes) {N: 2, T: DT_FLOAT}";
  expect({
      {"a Merge in another order", a, swapped, kProved},
      {"another predicate", a, other, kDiffers},
      {"another branch", a, wrong, kDiffers},
      {"a dead control edge",
       "s = Switch(x, p) {T: DT_FLOAT}\nt = Identity(s:1) {T: DT_FLOAT}\ny = Neg(x, ^t) {T: DT_FLOAT}",
       "y = Neg(x) {T: DT_FLOAT}", kDiffers, "when it is there"},
      {"a control edge of the Switch itself", "s = Switch(x, p) {T: DT_FLOAT}\ny = Neg(x, ^s) {T: DT_FLOAT}",
       "y = Neg(x) {T: DT_FLOAT}", kProved},
      {"a control edge that is always there", "e = Exp(x) {T: DT_FLOAT}\ny = Neg(x, ^e) {T: DT_FLOAT}",
       "y = Neg(x) {T: DT_FLOAT}", kProved},
  });
}

TEST(Prove, State) {
  constexpr std::string_view kRead = "y = ReadVariableOp(v) {dtype: DT_FLOAT}";
  constexpr std::string_view kBefore =
      "w = AssignVariableOp(v, x) {dtype: DT_FLOAT}\ny = ReadVariableOp(v, ^w) {dtype: DT_FLOAT}";
  constexpr std::string_view kOther =
      "w = AssignVariableOp(v, u) {dtype: DT_FLOAT}\ny = ReadVariableOp(v, ^w) {dtype: DT_FLOAT}";
  constexpr std::string_view kTable =
      "t = HashTableV2() {key_dtype: DT_INT32, value_dtype: DT_FLOAT}\n"
      "k = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [], 1.0)}\ny = LookupTableFindV2(t, i, k) {Tin: "
      "DT_INT32, Tout: DT_FLOAT}";
  constexpr std::string_view kOtherTable =
      "r = HashTableV2() {key_dtype: DT_INT32, value_dtype: DT_FLOAT}\n"
      "k = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [], 1.0)}\ny = LookupTableFindV2(r, i, k) {Tin: "
      "DT_INT32, Tout: DT_FLOAT}";
  expect({
      {"a variable by its name", kRead, kRead, kProved},
      {"behind a write", kBefore, kBefore, kProved},
      {"a write that one does not have", kBefore, kRead, kUnknown},
      {"a write of something else", kBefore, kOther, kUnknown},
      {"tables by their names", kTable, kTable, kProved},
      {"another table", kTable, kOtherTable, kDiffers},
      {"a state of its own", "y = Unstage() {dtypes: list(DT_FLOAT)}",
       "y = Unstage() {dtypes: list(DT_FLOAT)}", kUnknown},
  });
}

TEST(Prove, TensorArrays) {
  constexpr std::string_view kArray =
      "t = TensorArrayV3(zero) {dtype: DT_FLOAT}\n"
      "w = TensorArrayWriteV3(t, zero, x, t:1) {T: DT_FLOAT}\n"
      "m = TensorArrayWriteV3(t, zero, u, t:1) {T: DT_FLOAT}\n";
  const std::string a = std::string(kArray) + "y = TensorArrayReadV3(t, zero, w) {dtype: DT_FLOAT}";
  const std::string b = std::string(kArray) + "y = TensorArrayReadV3(t, zero, m) {dtype: DT_FLOAT}";
  const std::string behind =
      std::string(kArray) + "y = TensorArrayReadV3(t, zero, t:1, ^w) {dtype: DT_FLOAT}";
  const std::string first = std::string(kArray) + "y = TensorArrayReadV3(t, zero, t:1) {dtype: DT_FLOAT}";
  expect({
      {"itself", a, a, kProved},
      {"behind another write", a, b, kDiffers},
      {"behind a write by a control edge", behind, behind, kProved},
      {"and without it", behind, first, kDiffers},
  });
}

// A function that calls itself twice has more calls than anybody can count.
TEST(Prove, EndlessCalls) {
  constexpr std::string_view kTwice =
      "y = PartitionedCall(x) {Tin: list(DT_FLOAT), Tout: list(DT_FLOAT), f: func f}\n"
      "function f(a: DT_FLOAT) -> (r: DT_FLOAT)\n"
      "  n = Neg(a) {T: DT_FLOAT}\n  e = Exp(a) {T: DT_FLOAT}\n"
      "  c = PartitionedCall(n:y:0) {Tin: list(DT_FLOAT), Tout: list(DT_FLOAT), f: func f}\n"
      "  d = PartitionedCall(e:y:0) {Tin: list(DT_FLOAT), Tout: list(DT_FLOAT), f: func f}\n"
      "  s = Sub(c:output:0, d:output:0) {T: DT_FLOAT}\n  return r=s:z:0\nend";
  expect({{"recursion", kTwice, kTwice, kUnknown, "calls too much"}});
}

TEST(Prove, TakenToBeTheSame) {
  Model a = listed_model(
            "x = Placeholder() {dtype: DT_FLOAT}\nh = Exp(x) {T: DT_FLOAT}\ny = Neg(h) {T: DT_FLOAT}\n"),
        b = listed_model("h = Placeholder() {dtype: DT_FLOAT}\ny = Neg(h) {T: DT_FLOAT}\n");
  Registry ops;
  ops.add_builtin();
  ProofRequest request;
  request.outputs = {{"y", "y"}};
  EXPECT_FALSE(prove({a, ops}, {b, ops}, request).proved());
  request.same = {{"h", "h"}};
  EXPECT_TRUE(prove({a, ops}, {b, ops}, request).proved());
}

}  // namespace
}  // namespace gedit
