// What nodes give, folded from constants: a row for each rule, and for what is not folded.
// tests/interop/fold.py compares with TensorFlow itself.
#include "fold/fold.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "graph/listing.h"
#include "listed_model.h"

namespace gedit::folding::fold_test {

struct Row {
  std::string op, attrs;            // as a listing has them
  std::vector<std::string> inputs;  // `DT_INT32 [2], 1, 2`: what stands in tensor(...)
  std::string outputs;              // the same, several after each other; or why it is not folded
};

FoldOutcome folded(const Row& row) {
  std::string listing, inputs;
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    const std::string name = "i" + std::to_string(i);
    listing += name + " = Const() {dtype: " + row.inputs[i].substr(0, row.inputs[i].find(' ')) +
               ", value: tensor(" + row.inputs[i] + ")}\n";
    inputs += (i == 0 ? "" : ", ") + name;
  }
  listing += "y = " + row.op + "(" + inputs + ")" + (row.attrs.empty() ? "" : " {" + row.attrs + "}") + "\n";
  const Model model = listed_model(listing);
  const Graph& graph = model.graph();
  std::vector<ConstTensor> values;
  for (uint32_t i = 0; i + 1 < graph.size(); ++i)
    values.push_back(const_value(graph.bytes(NodeId{i})).value());
  Registry ops;
  ops.add_builtin();
  FoldOutcome outcome = NodeFolder(ops).fold(graph.bytes(NodeId{graph.size() - 1}), values);
  // The values outlive the graph that they were read from.
  for (ConstTensor& output : outcome.outputs) {
    const auto proto = std::make_shared<const std::string>(tensor_proto_of(output));
    EXPECT_EQ(proto->size(), tensor_proto_size(output));
    output = parse_tensor(*proto, proto).value();
  }
  return outcome;
}

std::string text_of(const ConstTensor& value) {
  std::string text;
  print_node(text, const_node(NodeBuilder("y", "Const").take(), value), true);
  const size_t begin = text.find("tensor(") + 7;
  return text.substr(begin, text.rfind(')') - begin);
}

std::string text_of(const FoldOutcome& outcome) {
  if (!outcome.folded()) return outcome.why;
  std::string text;
  for (const ConstTensor& output : outcome.outputs) text += (text.empty() ? "" : " ") + text_of(output);
  return text;
}

const std::string kInt = "T: DT_INT32", kFloat = "T: DT_FLOAT";

const std::vector<Row>& rows() {
  // clang-format off
  static const std::vector<Row> all{
    {"Add", kInt, {"DT_INT32 [2], 1, 2", "DT_INT32 [], 3"}, "DT_INT32 [2], content(4, 5)"},
    {"Add", kInt, {"DT_INT32 [], 2147483647", "DT_INT32 [], 1"}, "DT_INT32 [], -2147483648"},
    {"Add", "T: DT_UINT8", {"DT_UINT8 [], 250", "DT_UINT8 [], 10"}, "DT_UINT8 [], 4"},
    {"Add", kFloat, {"DT_FLOAT [2], 1.5, -0.0", "DT_FLOAT [], 0.25"}, "DT_FLOAT [2], content(1.75, 0.25)"},
    {"Add", kFloat, {"DT_FLOAT [], 1e-39", "DT_FLOAT [], 1.0"}, "a number is a denormal"},
    {"Add", kFloat, {"DT_FLOAT [], inf", "DT_FLOAT [], -inf"}, "a number is not a number"},
    {"Add", kFloat, {"DT_FLOAT [], nan", "DT_FLOAT [], 1.0"}, "a number is not a number"},
    {"Sub", kFloat, {"DT_FLOAT [], 2e-38", "DT_FLOAT [], 1.5e-38"}, "a number is a denormal"},
    {"Add", kFloat, {"DT_FLOAT [], 1.1754942e-38", "DT_FLOAT [], 0.0"}, "a number is a denormal"},
    {"Add", kFloat, {"DT_FLOAT [2], 1.0, 2.0", "DT_FLOAT [3], 1.0, 2.0, 3.0"}, "shapes do not agree"},
    {"Add", kFloat, {"DT_FLOAT [1], 1.0", "DT_INT32 [], 1"}, "an input has another dtype"},
    {"Add", "T: DT_STRING", {"DT_STRING [], \"a\"", "DT_STRING [], \"b\""}, "not of this dtype"},
    {"Add", "T: DT_HALF", {"DT_HALF [], 2048.0", "DT_HALF [], 1.0"}, "DT_HALF [], 2048.0"},
    {"Add", "T: DT_BFLOAT16", {"DT_BFLOAT16 [], 256.0", "DT_BFLOAT16 [], 1.0"}, "DT_BFLOAT16 [], 256.0"},
    {"Add", "T: DT_COMPLEX64", {"DT_COMPLEX64 [], 1.0, 2.0", "DT_COMPLEX64 [], 1.0, 2.0"}, "not of this dtype"},
    {"AddV2", kInt, {"DT_INT32 [1000000], 1", "DT_INT32 [1000000], 2"}, "DT_INT32 [1000000], 3"},
    {"AddV2", kInt, {"DT_INT32 [2,1], 1, 2", "DT_INT32 [3], 10, 20, 30"}, "DT_INT32 [2,3], content(11, 21, 31, 12, 22, 32)"},
    {"Sub", kInt, {"DT_INT32 [], -2147483648", "DT_INT32 [], 1"}, "DT_INT32 [], 2147483647"},
    {"Mul", "T: DT_INT8", {"DT_INT8 [], 100", "DT_INT8 [], 3"}, "DT_INT8 [], 44"},
    {"Mul", kFloat, {"DT_FLOAT [], 1e-30", "DT_FLOAT [], 1e-10"}, "a number is a denormal"},
    {"RealDiv", kFloat, {"DT_FLOAT [2], 1.0, -1.0", "DT_FLOAT [], 0.0"}, "DT_FLOAT [2], content(inf, -inf)"},
    {"RealDiv", kFloat, {"DT_FLOAT [], 0.0", "DT_FLOAT [], 0.0"}, "a number is not a number"},
    {"RealDiv", kFloat, {"DT_FLOAT [], 1.0", "DT_FLOAT [], 3.0"}, "DT_FLOAT [], 0.33333334"},
    {"Div", kInt, {"DT_INT32 [], -7", "DT_INT32 [], 2"}, "DT_INT32 [], -3"},
    {"TruncateDiv", kInt, {"DT_INT32 [], -7", "DT_INT32 [], 2"}, "DT_INT32 [], -3"},
    {"TruncateDiv", kInt, {"DT_INT32 [], 1", "DT_INT32 [], 0"}, "a division by zero"},
    {"TruncateDiv", kInt, {"DT_INT32 [], -2147483648", "DT_INT32 [], -1"}, "a division of the least number"},
    {"FloorDiv", kInt, {"DT_INT32 [4], -7, 7, -7, 7", "DT_INT32 [4], 2, 2, -2, -2"}, "DT_INT32 [4], content(-4, 3, 3, -4)"},
    {"FloorDiv", kInt, {"DT_INT32 [], -2147483647", "DT_INT32 [], 3"}, "a division of large numbers"},
    {"FloorDiv", kInt, {"DT_INT32 [], 1", "DT_INT32 [], 0"}, "a division by zero"},
    {"FloorDiv", kFloat, {"DT_FLOAT [], 1.0", "DT_FLOAT [], 2.0"}, "not of this dtype"},
    {"FloorMod", kInt, {"DT_INT32 [4], -7, 7, -7, 7", "DT_INT32 [4], 2, 2, -2, -2"}, "DT_INT32 [4], content(1, 1, -1, -1)"},
    {"Mod", kInt, {"DT_INT32 [], -7", "DT_INT32 [], 2"}, "DT_INT32 [], -1"},
    {"TruncateMod", kInt, {"DT_INT32 [], -7", "DT_INT32 [], 2"}, "DT_INT32 [], -1"},
    {"SquaredDifference", kInt, {"DT_INT32 [], 2", "DT_INT32 [], 5"}, "DT_INT32 [], 9"},
    {"SquaredDifference", "T: DT_HALF", {"DT_HALF [], 2.0", "DT_HALF [], 1.0"}, "not of this dtype"},
    {"Maximum", kFloat, {"DT_FLOAT [2], 1.0, -inf", "DT_FLOAT [], 0.5"}, "DT_FLOAT [2], content(1.0, 0.5)"},
    {"Maximum", kFloat, {"DT_FLOAT [], 0.0", "DT_FLOAT [], -0.0"}, "zeros of both signs meet"},
    {"Minimum", kInt, {"DT_INT32 [2], 1, 9", "DT_INT32 [], 5"}, "DT_INT32 [2], content(1, 5)"},
    {"BitwiseAnd", kInt, {"DT_INT32 [], 6", "DT_INT32 [], 3"}, "DT_INT32 [], 2"},
    {"BitwiseOr", kInt, {"DT_INT32 [], 6", "DT_INT32 [], 3"}, "DT_INT32 [], 7"},
    {"BitwiseXor", kInt, {"DT_INT32 [], 6", "DT_INT32 [], 3"}, "DT_INT32 [], 5"},
    {"AddN", "N: 2, T: DT_FLOAT", {"DT_FLOAT [], 1.5", "DT_FLOAT [], 2.0"}, "DT_FLOAT [], 3.5"},
    {"AddN", "N: 3, T: DT_FLOAT", {"DT_FLOAT [], 1.5", "DT_FLOAT [], 1.5", "DT_FLOAT [], 1.5"}, "a sum of more than two floats"},
    {"AddN", "N: 3, T: DT_INT32", {"DT_INT32 [], 1", "DT_INT32 [], 2", "DT_INT32 [], 3"}, "DT_INT32 [], 6"},
    {"BiasAdd", kInt, {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [3], 10, 20, 30"}, "DT_INT32 [2,3], content(11, 22, 33, 14, 25, 36)"},
    {"BiasAdd", "T: DT_INT32, data_format: \"NCHW\"", {"DT_INT32 [1,3,1,2], 1, 2, 3, 4, 5, 6", "DT_INT32 [3], 10, 20, 30"}, "DT_INT32 [1,3,1,2], content(11, 12, 23, 24, 35, 36)"},
    {"BiasAddV1", kInt, {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [3], 10, 20, 30"}, "DT_INT32 [2,3], content(11, 22, 33, 14, 25, 36)"},
    {"Neg", kInt, {"DT_INT32 [2], 1, -2147483648"}, "DT_INT32 [2], content(-1, -2147483648)"},
    {"Neg", kFloat, {"DT_FLOAT [], 1.0"}, "DT_FLOAT [], -1.0"},
    {"Neg", kFloat, {"DT_FLOAT [], 0.0"}, "a zero of either sign"},
    {"Abs", kInt, {"DT_INT32 [], -3"}, "DT_INT32 [], 3"},
    {"Abs", kInt, {"DT_INT32 [], -2147483648"}, "the least number has no opposite"},
    {"Sign", kInt, {"DT_INT32 [3], -3, 0, 4"}, "DT_INT32 [3], content(-1, 0, 1)"},
    {"Square", kInt, {"DT_INT32 [], 65536"}, "DT_INT32 [], 0"},
    {"Floor", kFloat, {"DT_FLOAT [2], -1.5, 1.5"}, "DT_FLOAT [2], content(-2.0, 1.0)"},
    {"Floor", kFloat, {"DT_FLOAT [], -0.0"}, "a zero of either sign"},
    {"Ceil", kFloat, {"DT_FLOAT [2], -1.5, 1.5"}, "DT_FLOAT [2], content(-1.0, 2.0)"},
    {"Ceil", kFloat, {"DT_FLOAT [], -0.5"}, "a zero of either sign"},
    {"Relu", kFloat, {"DT_FLOAT [2], -1.0, 2.0"}, "DT_FLOAT [2], content(0.0, 2.0)"},
    {"Relu", kFloat, {"DT_FLOAT [], -0.0"}, "a zero of either sign"},
    {"Relu6", kFloat, {"DT_FLOAT [3], -1.0, 2.0, 9.0"}, "DT_FLOAT [3], content(0.0, 2.0, 6.0)"},
    {"Invert", kInt, {"DT_INT32 [], 5"}, "DT_INT32 [], -6"},
    {"Cast", "SrcT: DT_FLOAT, DstT: DT_INT32", {"DT_FLOAT [2], 1.9, -1.9"}, "DT_INT32 [2], content(1, -1)"},
    {"Cast", "SrcT: DT_FLOAT, DstT: DT_INT32", {"DT_FLOAT [], 2147483648.0"}, "a number is out of the integers' range"},
    {"Cast", "SrcT: DT_FLOAT, DstT: DT_INT32", {"DT_FLOAT [], nan"}, "a number is not a number"},
    {"Cast", "SrcT: DT_FLOAT, DstT: DT_BOOL", {"DT_FLOAT [4], 0.0, -0.0, 0.5, nan"}, "DT_BOOL [4], content(false, false, true, true)"},
    {"Cast", "SrcT: DT_FLOAT, DstT: DT_UINT8", {"DT_FLOAT [], -1.0"}, "a number is out of the integers' range"},
    {"Cast", "SrcT: DT_FLOAT, DstT: DT_HALF", {"DT_FLOAT [3], 2049.0, 2051.0, 1000000.0"}, "DT_HALF [3], content(2048.0, 2052.0, inf)"},
    {"Cast", "SrcT: DT_FLOAT, DstT: DT_HALF", {"DT_FLOAT [], 1e-07"}, "a number is a denormal"},
    {"Cast", "SrcT: DT_FLOAT, DstT: DT_BFLOAT16", {"DT_FLOAT [2], 257.0, 259.0"}, "DT_BFLOAT16 [2], content(256.0, 260.0)"},
    {"Cast", "SrcT: DT_DOUBLE, DstT: DT_HALF", {"DT_DOUBLE [], 2049.0000000001"}, "a number is rounded twice"},
    {"Cast", "SrcT: DT_DOUBLE, DstT: DT_FLOAT", {"DT_DOUBLE [2], 0.1, 1e300"}, "DT_FLOAT [2], content(0.1, inf)"},
    {"Cast", "SrcT: DT_DOUBLE, DstT: DT_FLOAT", {"DT_DOUBLE [], 1e-40"}, "a number is a denormal"},
    {"Cast", "SrcT: DT_INT64, DstT: DT_INT32", {"DT_INT64 [], 4294967297"}, "DT_INT32 [], 1"},
    {"Cast", "SrcT: DT_INT32, DstT: DT_FLOAT", {"DT_INT32 [], 16777217"}, "DT_FLOAT [], 16777216.0"},
    {"Cast", "SrcT: DT_INT32, DstT: DT_INT32, Truncate: true", {"DT_INT32 [], 1"}, "a conversion that truncates"},
    {"Cast", "SrcT: DT_BOOL, DstT: DT_FLOAT", {"DT_BOOL [2], true, false"}, "DT_FLOAT [2], content(1.0, 0.0)"},
    {"Cast", "SrcT: DT_STRING, DstT: DT_FLOAT", {"DT_STRING [], \"1\""}, "not between these dtypes"},
    {"Equal", kFloat, {"DT_FLOAT [3], 0.0, 1.0, nan", "DT_FLOAT [3], -0.0, 2.0, nan"}, "DT_BOOL [3], content(true, false, false)"},
    {"Equal", "T: DT_BOOL", {"DT_BOOL [2], true, false", "DT_BOOL [], true"}, "DT_BOOL [2], content(true, false)"},
    {"Equal", kFloat, {"DT_FLOAT [], 1e-40", "DT_FLOAT [], 0.0"}, "a number is a denormal"},
    {"Equal", "T: DT_STRING", {"DT_STRING [], \"a\"", "DT_STRING [], \"a\""}, "not of this dtype"},
    {"NotEqual", kFloat, {"DT_FLOAT [2], 0.0, nan", "DT_FLOAT [2], 1.0, nan"}, "DT_BOOL [2], true"},
    {"Less", kInt, {"DT_INT32 [2], 1, 2", "DT_INT32 [], 2"}, "DT_BOOL [2], content(true, false)"},
    {"LessEqual", kInt, {"DT_INT32 [3], 1, 2, 3", "DT_INT32 [], 2"}, "DT_BOOL [3], content(true, true, false)"},
    {"Greater", "T: DT_UINT8", {"DT_UINT8 [], 200", "DT_UINT8 [], 100"}, "DT_BOOL [], true"},
    {"GreaterEqual", kInt, {"DT_INT32 [2], 1, 2", "DT_INT32 [], 2"}, "DT_BOOL [2], content(false, true)"},
    {"LogicalAnd", "", {"DT_BOOL [2], true, false", "DT_BOOL [], true"}, "DT_BOOL [2], content(true, false)"},
    {"LogicalOr", "", {"DT_BOOL [2], true, false", "DT_BOOL [], false"}, "DT_BOOL [2], content(true, false)"},
    {"LogicalNot", "", {"DT_BOOL [2], true, false"}, "DT_BOOL [2], content(false, true)"},
    {"Sum", "T: DT_INT32, Tidx: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [], 0"}, "DT_INT32 [3], content(5, 7, 9)"},
    {"Sum", "T: DT_INT32, Tidx: DT_INT32, keep_dims: true", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [], -1"}, "DT_INT32 [2,1], content(6, 15)"},
    {"Sum", "T: DT_INT32, Tidx: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2], 0, 1"}, "DT_INT32 [], 21"},
    {"Sum", "T: DT_INT32, Tidx: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2], 0, -2"}, "an axis is named twice"},
    {"Sum", "T: DT_FLOAT, Tidx: DT_INT32", {"DT_FLOAT [2], 1.0, 2.0", "DT_INT32 [], 0"}, "not of this dtype"},
    {"Prod", "T: DT_INT32, Tidx: DT_INT32", {"DT_INT32 [3], 2, 3, 4", "DT_INT32 [], 0"}, "DT_INT32 [], 24"},
    {"Prod", "T: DT_INT32, Tidx: DT_INT32", {"DT_INT32 [0]", "DT_INT32 [], 0"}, "DT_INT32 [], 1"},
    {"Max", "T: DT_INT32, Tidx: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [], 1"}, "DT_INT32 [2], content(3, 6)"},
    {"Max", "T: DT_INT32, Tidx: DT_INT32", {"DT_INT32 [0]", "DT_INT32 [], 0"}, "nothing is reduced"},
    {"Min", "T: DT_INT32, Tidx: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [], 0"}, "DT_INT32 [3], content(1, 2, 3)"},
    {"Any", "Tidx: DT_INT32", {"DT_BOOL [2], false, true", "DT_INT32 [], 0"}, "DT_BOOL [], true"},
    {"All", "Tidx: DT_INT32", {"DT_BOOL [2], false, true", "DT_INT32 [], 0"}, "DT_BOOL [], false"},
    {"ArgMax", "T: DT_INT32, Tidx: DT_INT32, output_type: DT_INT64", {"DT_INT32 [3], 1, 9, 3", "DT_INT32 [], 0"}, "DT_INT64 [], 1"},
    {"ArgMax", "T: DT_INT32, Tidx: DT_INT32, output_type: DT_INT64", {"DT_INT32 [3], 1, 9, 9", "DT_INT32 [], 0"}, "several elements are the most extreme"},
    {"ArgMin", "T: DT_INT32, Tidx: DT_INT32, output_type: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [], 1"}, "DT_INT32 [2], 0"},
    {"Identity", "T: DT_STRING", {"DT_STRING [2], \"a\", \"b\""}, "DT_STRING [2], \"a\", \"b\""},
    {"PreventGradient", kInt, {"DT_INT32 [], 1"}, "DT_INT32 [], 1"},
    {"Snapshot", kInt, {"DT_INT32 [], 1"}, "DT_INT32 [], 1"},
    {"StopGradient", kInt, {"DT_INT32 [], 1"}, "DT_INT32 [], 1"},
    {"IdentityN", "T: list(DT_INT32, DT_FLOAT)", {"DT_INT32 [], 1", "DT_FLOAT [], 2.0"}, "DT_INT32 [], 1 DT_FLOAT [], 2.0"},
    {"Reshape", "T: DT_INT32, Tshape: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2], 3, -1"}, "DT_INT32 [3,2], content(1, 2, 3, 4, 5, 6)"},
    {"Reshape", "T: DT_INT32, Tshape: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2], 4, -1"}, "the elements do not fit the shape"},
    {"Reshape", "T: DT_INT32, Tshape: DT_INT32", {"DT_INT32 [0,2]", "DT_INT32 [2], 0, -1"}, "the elements do not fit the shape"},
    {"Reshape", "T: DT_INT32, Tshape: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2], -1, -1"}, "two sizes are open"},
    {"ExpandDims", "T: DT_INT32, Tdim: DT_INT32", {"DT_INT32 [2], 1, 2", "DT_INT32 [], -1"}, "DT_INT32 [2,1], content(1, 2)"},
    {"Squeeze", "T: DT_INT32, squeeze_dims: list(0)", {"DT_INT32 [1,2,1], 1, 2"}, "DT_INT32 [2,1], content(1, 2)"},
    {"Squeeze", "T: DT_INT32, squeeze_dims: list(1)", {"DT_INT32 [1,2,1], 1, 2"}, "a dimension is not 1"},
    {"Transpose", "T: DT_INT32, Tperm: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2], 1, 0"}, "DT_INT32 [3,2], content(1, 4, 2, 5, 3, 6)"},
    {"Transpose", "T: DT_STRING, Tperm: DT_INT32", {"DT_STRING [2,2], \"a\", \"b\", \"c\", \"d\"", "DT_INT32 [2], 1, 0"}, "DT_STRING [2,2], \"a\", \"c\", \"b\", \"d\""},
    {"Transpose", "T: DT_INT32, Tperm: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2], 0, 0"}, "no permutation of the dimensions"},
    {"BroadcastTo", "T: DT_INT32, Tidx: DT_INT32", {"DT_INT32 [2,1], 1, 2", "DT_INT32 [2], 2, 2"}, "DT_INT32 [2,2], 1, 1, 2"},
    {"Tile", "T: DT_INT32, Tmultiples: DT_INT32", {"DT_INT32 [2], 1, 2", "DT_INT32 [1], 2"}, "DT_INT32 [4], content(1, 2, 1, 2)"},
    {"Tile", "T: DT_INT32, Tmultiples: DT_INT32", {"DT_INT32 [2], 1, 2", "DT_INT32 [1], 0"}, "DT_INT32 [0]"},
    {"Tile", "T: DT_INT32, Tmultiples: DT_INT32", {"DT_INT32 [2], 1, 2", "DT_INT32 [1], -1"}, "a size is negative"},
    {"Tile", "T: DT_INT32, Tmultiples: DT_INT32", {"DT_INT32 [2], 1, 2", "DT_INT32 [1], 2147483647"}, "a result would be enormous"},
    {"ReverseV2", "T: DT_INT32, Tidx: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [1], 1"}, "DT_INT32 [2,3], content(3, 2, 1, 6, 5, 4)"},
    {"Slice", "T: DT_INT32, Index: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2], 0, 1", "DT_INT32 [2], 2, -1"}, "DT_INT32 [2,2], content(2, 3, 5, 6)"},
    {"Slice", "T: DT_INT32, Index: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2], 0, 1", "DT_INT32 [2], 2, 3"}, "a slice is out of range"},
    {"StridedSlice", "T: DT_INT32, Index: DT_INT32, shrink_axis_mask: 1", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [1], 1", "DT_INT32 [1], 2", "DT_INT32 [1], 1"}, "DT_INT32 [3], content(4, 5, 6)"},
    {"StridedSlice", "T: DT_INT32, Index: DT_INT32, begin_mask: 2, end_mask: 2, ellipsis_mask: 1", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2], 0, 0", "DT_INT32 [2], 0, 0", "DT_INT32 [2], 1, -1"}, "DT_INT32 [2,3], content(3, 2, 1, 6, 5, 4)"},
    {"StridedSlice", "T: DT_INT32, Index: DT_INT32, new_axis_mask: 1, shrink_axis_mask: 2", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2], 0, -1", "DT_INT32 [2], 0, 0", "DT_INT32 [2], 1, 1"}, "DT_INT32 [1,3], content(4, 5, 6)"},
    {"StridedSlice", "T: DT_INT32, Index: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2], -9, 2", "DT_INT32 [2], 9, 0", "DT_INT32 [2], 1, -1"}, "DT_INT32 [2,2], content(3, 2, 6, 5)"},
    {"StridedSlice", "T: DT_INT32, Index: DT_INT32, shrink_axis_mask: 1", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [1], 2", "DT_INT32 [1], 3", "DT_INT32 [1], 1"}, "an index is out of range"},
    {"StridedSlice", "T: DT_INT32, Index: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [1], 0", "DT_INT32 [1], 1", "DT_INT32 [1], 0"}, "a step of zero"},
    {"Split", "T: DT_INT32, num_split: 3", {"DT_INT32 [], 1", "DT_INT32 [2,3], 1, 2, 3, 4, 5, 6"}, "DT_INT32 [2,1], content(1, 4) DT_INT32 [2,1], content(2, 5) DT_INT32 [2,1], content(3, 6)"},
    {"Split", "T: DT_INT32, num_split: 2", {"DT_INT32 [], 1", "DT_INT32 [2,3], 1, 2, 3, 4, 5, 6"}, "it does not divide"},
    {"SplitV", "T: DT_INT32, Tlen: DT_INT32, num_split: 2", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2], 1, -1", "DT_INT32 [], 1"}, "DT_INT32 [2,1], content(1, 4) DT_INT32 [2,2], content(2, 3, 5, 6)"},
    {"SplitV", "T: DT_INT32, Tlen: DT_INT32, num_split: 2", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2], 1, 3", "DT_INT32 [], 1"}, "it does not divide"},
    {"Unpack", "T: DT_INT32, num: 2, axis: 0", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6"}, "DT_INT32 [3], content(1, 2, 3) DT_INT32 [3], content(4, 5, 6)"},
    {"Concat", "T: DT_INT32, N: 2", {"DT_INT32 [], 0", "DT_INT32 [2], 1, 2", "DT_INT32 [1], 3"}, "DT_INT32 [3], content(1, 2, 3)"},
    {"ConcatV2", "T: DT_INT32, Tidx: DT_INT32, N: 2", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2,1], 7, 8", "DT_INT32 [], -1"}, "DT_INT32 [2,4], content(1, 2, 3, 7, 4, 5, 6, 8)"},
    {"ConcatV2", "T: DT_INT32, Tidx: DT_INT32, N: 2", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2], 7, 8", "DT_INT32 [], -1"}, "shapes do not agree"},
    {"Pack", "T: DT_INT32, N: 2, axis: 1", {"DT_INT32 [2], 1, 2", "DT_INT32 [2], 3, 4"}, "DT_INT32 [2,2], content(1, 3, 2, 4)"},
    {"Pack", "T: DT_STRING, N: 2, axis: 0", {"DT_STRING [], \"a\"", "DT_STRING [], \"b\""}, "DT_STRING [2], \"a\", \"b\""},
    {"Pad", "T: DT_INT32, Tpaddings: DT_INT32", {"DT_INT32 [2], 1, 2", "DT_INT32 [1,2], 1, 2"}, "DT_INT32 [5], 0, 1, 2, 0"},
    {"Pad", "T: DT_INT32, Tpaddings: DT_INT32", {"DT_INT32 [2], 1, 2", "DT_INT32 [1,2], -1, 2"}, "a size is negative"},
    {"Pad", "T: DT_INT32, Tpaddings: DT_INT32", {"DT_INT32 [2], 1, 2", "DT_INT32 [1,2], 1, 2147483647"}, "a result would be enormous"},
    {"PadV2", "T: DT_INT32, Tpaddings: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2,2], 1, 0, 0, 1", "DT_INT32 [], 9"}, "DT_INT32 [3,4], content(9, 9, 9, 9, 1, 2, 3, 9, 4, 5, 6, 9)"},
    {"MirrorPad", "T: DT_INT32, Tpaddings: DT_INT32, mode: \"REFLECT\"", {"DT_INT32 [3], 1, 2, 3", "DT_INT32 [1,2], 2, 1"}, "DT_INT32 [6], content(3, 2, 1, 2, 3, 2)"},
    {"MirrorPad", "T: DT_INT32, Tpaddings: DT_INT32, mode: \"SYMMETRIC\"", {"DT_INT32 [3], 1, 2, 3", "DT_INT32 [1,2], 2, 1"}, "DT_INT32 [6], 2, 1, 1, 2, 3"},
    {"MirrorPad", "T: DT_INT32, Tpaddings: DT_INT32, mode: \"REFLECT\"", {"DT_INT32 [3], 1, 2, 3", "DT_INT32 [1,2], 3, 1"}, "more than what is mirrored"},
    {"Gather", "Tparams: DT_INT32, Tindices: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2], 1, 1"}, "DT_INT32 [2,3], content(4, 5, 6, 4, 5, 6)"},
    {"Gather", "Tparams: DT_INT32, Tindices: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [1], 2"}, "an index is out of range"},
    {"GatherV2", "Tparams: DT_INT32, Tindices: DT_INT32, Taxis: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2], 2, 0", "DT_INT32 [], 1"}, "DT_INT32 [2,2], content(3, 1, 6, 4)"},
    {"GatherV2", "Tparams: DT_INT32, Tindices: DT_INT32, Taxis: DT_INT32, batch_dims: 1", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2,1], 2, 0", "DT_INT32 [], 1"}, "DT_INT32 [2,1], content(3, 4)"},
    {"GatherNd", "Tparams: DT_INT32, Tindices: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2,2], 1, 2, 0, 0"}, "DT_INT32 [2], content(6, 1)"},
    {"Select", kInt, {"DT_BOOL [2], true, false", "DT_INT32 [2], 1, 2", "DT_INT32 [2], 3, 4"}, "DT_INT32 [2], content(1, 4)"},
    {"Select", kInt, {"DT_BOOL [2], false, true", "DT_INT32 [2,2], 1, 2, 3, 4", "DT_INT32 [2,2], 5, 6, 7, 8"}, "DT_INT32 [2,2], content(5, 6, 3, 4)"},
    {"Select", kInt, {"DT_BOOL [], true", "DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [2,3], 1, 2, 3, 4, 5, 6"}, "DT_INT32 [2,3], content(1, 2, 3, 4, 5, 6)"},
    {"SelectV2", kInt, {"DT_BOOL [2], true, false", "DT_INT32 [], 1", "DT_INT32 [2,1], 3, 4"}, "DT_INT32 [2,2], content(1, 3, 1, 4)"},
    {"Fill", "T: DT_FLOAT, index_type: DT_INT32", {"DT_INT32 [2], 2, 3", "DT_FLOAT [], 0.5"}, "DT_FLOAT [2,3], 0.5"},
    {"Fill", "T: DT_FLOAT, index_type: DT_INT64", {"DT_INT64 [2], 1000000, 1000000", "DT_FLOAT [], 0.5"}, "a result would be enormous"},
    {"Fill", "T: DT_FLOAT, index_type: DT_INT32", {"DT_INT32 [2], 2, -3", "DT_FLOAT [], 0.5"}, "a size is negative"},
    {"Fill", "T: DT_STRING, index_type: DT_INT32", {"DT_INT32 [1], 2", "DT_STRING [], \"a\""}, "DT_STRING [2], \"a\""},
    {"Fill", "T: DT_FLOAT, index_type: DT_INT64", {"DT_INT64 [3], 9223372036854775807, 9223372036854775807, 0", "DT_FLOAT [], 0.5"}, "a result would have no shape"},
    {"ZerosLike", kInt, {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6"}, "DT_INT32 [2,3], 0"},
    {"OnesLike", "T: DT_HALF", {"DT_HALF [3], 7.0"}, "DT_HALF [3], 1.0"},
    {"Range", "Tidx: DT_INT32", {"DT_INT32 [], 5", "DT_INT32 [], 0", "DT_INT32 [], -2"}, "DT_INT32 [3], content(5, 3, 1)"},
    {"Range", "Tidx: DT_INT32", {"DT_INT32 [], 0", "DT_INT32 [], 5", "DT_INT32 [], -2"}, "no such range"},
    {"Range", "Tidx: DT_INT32", {"DT_INT32 [], 0", "DT_INT32 [], 5", "DT_INT32 [], 0"}, "no such range"},
    {"Range", "Tidx: DT_FLOAT", {"DT_FLOAT [], 0.0", "DT_FLOAT [], 5.0", "DT_FLOAT [], 1.0"}, "not of this dtype"},
    {"Range", "Tidx: DT_INT64", {"DT_INT64 [], 0", "DT_INT64 [], 1000000000000", "DT_INT64 [], 1"}, "a result would be enormous"},
    {"Range", "Tidx: DT_INT32", {"DT_INT32 [], -2147483648", "DT_INT32 [], 2147483647", "DT_INT32 [], 1"}, "a range of large numbers"},
    {"OneHot", "T: DT_FLOAT, TI: DT_INT32, axis: -1", {"DT_INT32 [2], 1, -1", "DT_INT32 [], 2", "DT_FLOAT [], 1.0", "DT_FLOAT [], 0.0"}, "DT_FLOAT [2,2], content(0.0, 1.0, 0.0, 0.0)"},
    {"OneHot", "T: DT_FLOAT, TI: DT_INT32, axis: 0", {"DT_INT32 [3], 1, 0, 5", "DT_INT32 [], 2", "DT_FLOAT [], 1.0", "DT_FLOAT [], 0.0"}, "DT_FLOAT [2,3], content(0.0, 1.0, 0.0, 1.0, 0.0, 0.0)"},
    {"Where", "T: DT_BOOL", {"DT_BOOL [2,2], false, true, true, false"}, "DT_INT64 [2,2], content(0, 1, 1, 0)"},
    {"Where", "T: DT_INT32", {"DT_INT32 [], 1"}, "not of this dtype"},
    {"InvertPermutation", kInt, {"DT_INT32 [3], 2, 0, 1"}, "DT_INT32 [3], content(1, 2, 0)"},
    {"InvertPermutation", kInt, {"DT_INT32 [3], 2, 0, 2"}, "no permutation"},
    {"BroadcastArgs", kInt, {"DT_INT32 [2], 2, 1", "DT_INT32 [1], 3"}, "DT_INT32 [2], content(2, 3)"},
    {"BroadcastGradientArgs", kInt, {"DT_INT32 [2], 2, 1", "DT_INT32 [1], 3"}, "DT_INT32 [1], 1 DT_INT32 [1], 0"},
    {"BroadcastGradientArgs", kInt, {"DT_INT32 [2], 1, 2", "DT_INT32 [2], 1, 1"}, "a dimension of 1 in both"},
    {"ConcatOffset", "N: 2", {"DT_INT32 [], 0", "DT_INT32 [2], 2, 3", "DT_INT32 [2], 4, 3"}, "DT_INT32 [2], 0 DT_INT32 [2], content(2, 0)"},
    {"Shape", "T: DT_INT32, out_type: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6"}, "DT_INT32 [2], content(2, 3)"},
    {"Shape", "T: DT_INT32, out_type: DT_INT64", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6"}, "DT_INT64 [2], content(2, 3)"},
    {"ShapeN", "T: DT_INT32, N: 2, out_type: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6", "DT_INT32 [], 1"}, "DT_INT32 [2], content(2, 3) DT_INT32 [0]"},
    {"Size", "T: DT_INT32, out_type: DT_INT32", {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6"}, "DT_INT32 [], 6"},
    {"Size", "T: DT_INT32, out_type: DT_INT32", {"DT_INT32 [4000000000]"}, "a size is out of the integers' range"},
    {"Rank", kInt, {"DT_INT32 [2,3], 1, 2, 3, 4, 5, 6"}, "DT_INT32 [], 2"},
    {"Rsqrt", kFloat, {"DT_FLOAT [], 4.0"}, "the op is not folded"},
    {"Exp", kFloat, {"DT_FLOAT [], 0.0"}, "the op is not folded"},
    {"MatMul", kFloat, {"DT_FLOAT [1,1], 1.0", "DT_FLOAT [1,1], 1.0"}, "the op is not folded"},
    {"RandomUniform", "T: DT_INT32, dtype: DT_FLOAT", {"DT_INT32 [1], 2"}, "the op is not folded"},
    {"LinSpace", "T: DT_FLOAT, Tidx: DT_INT32", {"DT_FLOAT [], 0.0", "DT_FLOAT [], 1.0", "DT_INT32 [], 3"}, "the op is not folded"},
    {"NoSuchOp", "", {"DT_INT32 [], 1"}, "the op is not folded"},
    {"Add", "T: placeholder \"T\"", {"DT_INT32 [], 1", "DT_INT32 [], 1"}, "an input has another dtype"},
    {"Add", kFloat, {"DT_INT32 [], 1", "DT_INT32 [], 1"}, "an input has another dtype"},
    {"Add", kInt, {"DT_INT32 [], 1"}, "an input more or less than the op has"},
  };
  // clang-format on
  return all;
}

TEST(Fold, Rules) {
  for (const Row& row : rows()) {
    EXPECT_EQ(text_of(folded(row)), row.outputs)
        << row.op << " {" << row.attrs << "} " << testing::PrintToString(row.inputs);
  }
}

TEST(Fold, EveryRuleHasARow) {
  std::set<std::string, std::less<>> shown;
  for (const Row& row : rows()) {
    if (folded(row).folded()) shown.insert(row.op);
  }
  for (const std::string_view op : foldable_ops()) EXPECT_TRUE(shown.contains(op)) << op;
}

}  // namespace gedit::folding::fold_test
