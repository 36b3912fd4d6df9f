// What is proved of small graphs, rule by rule: pairs that compute the same, pairs that do not, and what
// nobody can know (docs/rules.md#prove).
#include "prove/prove.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "listed_model.h"

namespace gedit::prove_test {

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

// What cannot be followed may be anything, and may write.
TEST(Prove, CallsThatCannotBeFollowed) {
  constexpr std::string_view kAssign =
      "function set(h: DT_RESOURCE, a: DT_FLOAT) -> (r: DT_FLOAT)\n"
      "  w = AssignVariableOp(h, a) {dtype: DT_FLOAT}\n  i = Identity(a, ^w) {T: DT_FLOAT}\n"
      "  return r=i:output:0\nend";
  const auto call = [&](std::string_view of) {
    return "c = StatefulPartitionedCall(v, " + std::string(of) +
           ") {Tin: list(DT_RESOURCE, DT_FLOAT), Tout: list(DT_FLOAT), f: func set}\n";
  };
  const std::string reads = "y = ReadVariableOp(v, ^c) {dtype: DT_FLOAT}\n" + std::string(kAssign);
  const std::string set_x = call("x") + reads, set_u = call("u") + reads;
  const std::string none = "y = ReadVariableOp(v) {dtype: DT_FLOAT}\n" + std::string(kAssign);
  const std::string plain = call("x") + "y = Neg(c) {T: DT_FLOAT}\n" + std::string(kAssign);
  const std::string other =
      call("x") + "e = Exp(x) {T: DT_FLOAT}\ny = Neg(e) {T: DT_FLOAT}\n" + std::string(kAssign);
  expect({
      {"a call that writes", set_x, set_x, kUnknown, "effects"},
      {"a call that writes another value", set_x, set_u, kUnknown},
      {"a call that writes and none", set_x, none, kUnknown},
      {"its result and another", plain, other, kUnknown, "effects"},
      {"an op that nobody knows may write", "c = MyOp(v)\ny = ReadVariableOp(v, ^c) {dtype: DT_FLOAT}",
       "y = ReadVariableOp(v) {dtype: DT_FLOAT}", kUnknown},
      {"what writes without saying so", "y = InplaceAdd(x, n, u) {T: DT_FLOAT}",
       "y = InplaceAdd(x, n, u) {T: DT_FLOAT}", kUnknown, "writes into what it reads"},
  });
}

// State of a function is known by its shared name, and where a call gave way to what it called.
TEST(Prove, StateOfFunctions) {
  const auto function = [](std::string_view shared) {
    return "y = StatefulPartitionedCall(i) {Tin: list(DT_INT32), Tout: list(DT_FLOAT), f: func find}\n"
           "function find(k: DT_INT32) -> (r: DT_FLOAT)\n"
           "  t = HashTableV2() {key_dtype: DT_INT32, value_dtype: DT_FLOAT, shared_name: \"" +
           std::string(shared) +
           "\"}\n  d = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [], 1.0)}\n"
           "  f = LookupTableFindV2(t:table_handle:0, k, d:output:0) {Tin: DT_INT32, Tout: DT_FLOAT}\n"
           "  return r=f:values:0\nend";
  };
  const auto inlined = [](std::string_view shared) {
    return "y/t = HashTableV2() {key_dtype: DT_INT32, value_dtype: DT_FLOAT, shared_name: \"" +
           std::string(shared) +
           "\"}\ny/d = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [], 1.0)}\n"
           "y = LookupTableFindV2(y/t, i, y/d) {Tin: DT_INT32, Tout: DT_FLOAT}\n";
  };
  expect({
      {"itself", function("s"), function("s"), kProved},
      {"under another name", function("s"), function("o"), kUnknown, "shared"},
      {"inlined", function("s"), inlined("s"), kProved},
      {"inlined under another name", function("s"), inlined("o"), kUnknown, "shared"},
  });
}

TEST(Prove, Races) {
  constexpr std::string_view kRace =
      "w = AssignVariableOp(v, x) {dtype: DT_FLOAT}\nr = ReadVariableOp(v) {dtype: DT_FLOAT}\n"
      "y = Neg(r, ^w) {T: DT_FLOAT}";
  constexpr std::string_view kBehind =
      "w = AssignVariableOp(v, x) {dtype: DT_FLOAT}\nr = ReadVariableOp(v, ^w) {dtype: DT_FLOAT}\n"
      "y = Neg(r, ^w) {T: DT_FLOAT}";
  constexpr std::string_view kBefore =
      "r = ReadVariableOp(v) {dtype: DT_FLOAT}\nw = AssignVariableOp(v, x, ^r) {dtype: DT_FLOAT}\n"
      "y = Neg(r, ^w) {T: DT_FLOAT}";
  constexpr std::string_view kTwoWrites =
      "w = AssignVariableOp(v, x) {dtype: DT_FLOAT}\nz = AssignVariableOp(v, u) {dtype: DT_FLOAT}\n"
      "y = ReadVariableOp(v, ^w, ^z) {dtype: DT_FLOAT}";
  // An Identity of a reference is the variable's own memory.
  constexpr std::string_view kShared =
      "o = VariableV2() {dtype: DT_FLOAT, shape: []}\nread = Identity(o) {T: DT_FLOAT}\n"
      "w = Assign(o, x, ^read) {T: DT_FLOAT}\nn2 = Neg(read) {T: DT_FLOAT}\ny = Sub(n2, w) {T: DT_FLOAT}";
  constexpr std::string_view kCopied =
      "o = VariableV2() {dtype: DT_FLOAT, shape: []}\nread = Identity(o) {T: DT_FLOAT}\n"
      "n2 = Neg(read) {T: DT_FLOAT}\nw = Assign(o, x, ^n2) {T: DT_FLOAT}\ny = Sub(n2, w) {T: DT_FLOAT}";
  constexpr std::string_view kBranches =
      "s = Switch(x, p) {T: DT_FLOAT}\nno = Identity(s) {T: DT_FLOAT}\nyes = Identity(s:1) {T: DT_FLOAT}\n"
      "w = AssignVariableOp(v, yes) {dtype: DT_FLOAT}\nb = Neg(yes, ^w) {T: DT_FLOAT}\n"
      "r = ReadVariableOp(v, ^no) {dtype: DT_FLOAT}\ny = Merge(r, b) {N: 2, T: DT_FLOAT}";
  constexpr std::string_view kArray =
      "t = TensorArrayV3(zero) {dtype: DT_FLOAT}\nw = TensorArrayWriteV3(t, zero, x, t:1) {T: DT_FLOAT}\n"
      "r = TensorArrayReadV3(t, zero, t:1) {dtype: DT_FLOAT}\ny = Sub(r, w) {T: DT_FLOAT}";
  constexpr std::string_view kApart =
      "one = Const() {dtype: DT_INT32, value: tensor(DT_INT32 [], 1)}\n"
      "t = TensorArrayV3(zero) {dtype: DT_FLOAT}\nw = TensorArrayWriteV3(t, zero, x, t:1) {T: DT_FLOAT}\n"
      "r = TensorArrayReadV3(t, one, t:1) {dtype: DT_FLOAT}\ny = Sub(r, w) {T: DT_FLOAT}";
  expect({
      {"a read and a write", kRace, kRace, kUnknown, "'r' uses, in no order"},
      {"a read behind a write", kBehind, kBehind, kProved},
      {"a read before a write", kBefore, kBefore, kProved},
      {"two writes", kTwoWrites, kTwoWrites, kUnknown, "in no order"},
      {"what shares the memory of a reference", kShared, kShared, kUnknown, "in no order"},
      {"what is computed of it before", kCopied, kCopied, kProved},
      {"of two branches one runs", kBranches, kBranches, kProved},
      {"an element of an array", kArray, kArray, kUnknown, "in no order"},
      {"another element", kApart, kApart, kProved},
      {"who hands on a handle uses nothing",
       "pass = Identity(v) {T: DT_RESOURCE}\nr = ReadVariableOp(v) {dtype: DT_FLOAT}\n"
       "w = AssignVariableOp(pass, x, ^r) {dtype: DT_FLOAT}\nother = Identity(v) {T: DT_RESOURCE}\n"
       "y = ReadVariableOp(other, ^w) {dtype: DT_FLOAT}",
       "pass = Identity(v) {T: DT_RESOURCE}\nr = ReadVariableOp(v) {dtype: DT_FLOAT}\n"
       "w = AssignVariableOp(pass, x, ^r) {dtype: DT_FLOAT}\nother = Identity(v) {T: DT_RESOURCE}\n"
       "y = ReadVariableOp(other, ^w) {dtype: DT_FLOAT}",
       kProved},
  });
}

TEST(Prove, Corners) {
  const std::string draws =
      "a = RandomUniform(n) {T: DT_INT32, dtype: DT_FLOAT, seed: 3}\n"
      "b = RandomUniform(n) {T: DT_INT32, dtype: DT_FLOAT, seed: 3}\n";
  const std::string group =
      "t = TensorArrayV3(zero) {dtype: DT_FLOAT}\nw = TensorArrayWriteV3(t, zero, x, t:1) {T: DT_FLOAT}\n"
      "g = NoOp(^w)\ny = TensorArrayReadV3(t, zero, t:1, ^g) {dtype: DT_FLOAT}";
  const std::string other_group =
      "t = TensorArrayV3(zero) {dtype: DT_FLOAT}\nw = TensorArrayWriteV3(t, zero, u, t:1) {T: DT_FLOAT}\n"
      "g = NoOp(^w)\ny = TensorArrayReadV3(t, zero, t:1, ^g) {dtype: DT_FLOAT}";
  constexpr std::string_view kTruths = "c = Const() {dtype: DT_BOOL, value: tensor(DT_BOOL [1], true)}\n";
  constexpr std::string_view kOverlap =
      "s = Switch(x, p) {T: DT_FLOAT}\nr = Switch(u, q) {T: DT_FLOAT}\ny = Merge(s, r) {N: 2, T: DT_FLOAT}";
  constexpr std::string_view kMapped =
      "y = MapDefun(x) {Targuments: list(DT_FLOAT), Tcaptured: list(), f: func self, "
      "output_shapes: list([]), output_types: list(DT_FLOAT)}\n"
      "function self(a: DT_FLOAT) -> (r: DT_FLOAT)\n"
      "  m = MapDefun(a) {Targuments: list(DT_FLOAT), Tcaptured: list(), f: func self, "
      "output_shapes: list([]), output_types: list(DT_FLOAT)}\n  return r=m:output:0\nend";
  expect({
      {"nodes built alike behind an Identity", draws + "y = Sub(a, b) {T: DT_FLOAT}",
       draws + "pass = Identity(a) {T: DT_FLOAT}\ny = Sub(pass, b) {T: DT_FLOAT}", kProved},
      {"the same the other way round", draws + "y = Sub(a, b) {T: DT_FLOAT}",
       draws + "pass = Identity(b) {T: DT_FLOAT}\ny = Sub(a, pass) {T: DT_FLOAT}", kProved},
      {"a write behind a group", group, group, kProved},
      {"another write behind a group", group, other_group, kDiffers},
      {"an output that no node has", "y = Neg(x:4294967295) {T: DT_FLOAT}",
       "y = Neg(x:4294967295) {T: DT_FLOAT}", kUnknown, "not there"},
      {"a vector is no scalar", std::string(kTruths) + "y = LogicalNot(c)",
       "y = Const() {dtype: DT_BOOL, value: tensor(DT_BOOL [], false)}", kDiffers},
      {"two that may be alive at once", kOverlap, kOverlap, kUnknown, "at once"},
      {"two of three branches are not all",
       "s = _SwitchN(x, i) {T: DT_FLOAT, num_outs: 3}\ny = Merge(s, s:1) {N: 2, T: DT_FLOAT}",
       "s = _SwitchN(x, i) {T: DT_FLOAT, num_outs: 3}\ny = Merge(s, s:1) {N: 2, T: DT_FLOAT}", kProved},
      {"a trigger is never dead",
       "s = Switch(x, p) {T: DT_FLOAT}\nt = Identity(s:1) {T: DT_FLOAT}\nc = ControlTrigger(^t)\n"
       "y = Neg(x, ^c) {T: DT_FLOAT}",
       "y = Neg(x) {T: DT_FLOAT}", kProved},
      {"a function that names itself as a value", kMapped, kMapped, kUnknown},
      {"names of functions inside other words",
       "y = MapDefun(x) {Targuments: list(DT_FLOAT), Tcaptured: list(), f: func a {v: \"ab\"}, "
       "output_shapes: list([]), output_types: list(DT_FLOAT)}\n"
       "function a(k: DT_FLOAT) -> (r: DT_FLOAT)\n  e = Exp(k) {T: DT_FLOAT}\n  return r=e:y:0\nend",
       "y = MapDefun(x) {Targuments: list(DT_FLOAT), Tcaptured: list(), f: func c {v: \"cb\"}, "
       "output_shapes: list([]), output_types: list(DT_FLOAT)}\n"
       "function c(k: DT_FLOAT) -> (r: DT_FLOAT)\n  e = Exp(k) {T: DT_FLOAT}\n  return r=e:y:0\nend",
       kDiffers},
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

}  // namespace gedit::prove_test
