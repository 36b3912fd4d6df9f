// What each rule of lib/shape says: a row a rule at least, as tensorflow/core/ops/*.cc has it. What real
// TensorFlow infers of whole graphs is held against all of them in tests/interop/shapes.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "graph/listing.h"
#include "graph/node.h"
#include "graph/scanner.h"
#include "shape/ranks.h"
#include "shape/rule.h"

namespace gedit::shapes_test {

using shaping::Dim;
using shaping::Dims;
using shaping::Fact;
using shaping::Subject;

// Tensors, between blanks: `[2,?]` a shape, `*` one of unknown rank, `=2,?` a vector of these elements, `#2`
// a scalar of this value, `@[2]` the handle of something of this shape. `!` is a contradiction.
struct RuleCase {
  std::string op, attrs, inputs, outputs;
};

std::vector<RuleCase> rule_cases() {
  return {
      {"Identity", "", "=3,4", "=3,4"},
      {"Identity", "", "@[2]", "@[2]"},
      {"Relu", "", "[?,3]", "[?,3]"},
      {"IdentityN", "", "[1] #2 *", "[1] #2 *"},
      {"Cast", "SrcT: DT_INT64, DstT: DT_INT32", "=3,?", "=3,?"},
      {"Greater", "", "[2,1,3] [4,3]", "[2,4,3]"},
      {"Greater", "", "[2,3] [2,4]", "!"},
      {"RandomGammaGrad", "", "[1,1] [1,4]", "[1,4]"},
      {"Greater", "", "[?,3] [1,3]", "[?,3]"},
      {"SelectV2", "", "[2,1] [1,3] []", "[2,3]"},
      {"Equal", "incompatible_shape_error: true", "[2,1] [3]", "[2,3]"},
      {"Select", "", "[2] [2,3] [2,3]", "[2,3]"},
      {"AddN", "", "[?,3] [2,3]", "[2,3]"},
      {"AddV2", "", "[2,1] [3]", "[2,3]"},
      {"AddV2", "", "=1,2 =3,4", "=4,6"},
      {"Sub", "", "#7 #2", "#5"},
      {"Mul", "", "=2,3 #2", "=4,6"},
      {"FloorDiv", "", "#7 #2", "#3"},
      {"FloorMod", "", "=-1,7 #3", "=2,1"},
      {"FloorMod", "", "=5 #-1", "=0"},
      {"Mod", "", "=-7 #3", "=-1"},
      {"Neg", "", "=3,-4", "=-3,4"},
      {"SplitV", "num_split: 3", "=5,6,7 =1,2,0 #0", "=5 =6,7 ="},
      {"Maximum", "", "#7 #2", "#7"},
      {"Minimum", "", "#7 #2", "#2"},
      {"L2Loss", "", "[2,3]", "[]"},
      {"MatchingFiles", "", "[]", "[?]"},
      {"PlaceholderV2", "shape: [2,?]", "", "[2,?]"},
      {"IteratorGetNext", "output_shapes: list([2,?],[])", "[]", "[2,?] []"},
      {"ReluGrad", "", "[?,3] [2,3]", "[2,3]"},
      {"ReluGrad", "", "[2,3] [3]", "!"},
      {"TanhGrad", "", "[2,3] [3]", "[2,3]"},
      {"BiasAdd", R"(data_format: "NHWC")", "[2,?] [3]", "[2,3]"},
      {"BiasAdd", R"(data_format: "NHWC")", "[2,4] [3]", "!"},
      {"BiasAdd", R"(data_format: "NCHW")", "[2,?,5,5] [3]", "[2,3,5,5]"},
      {"BiasAddGrad", R"(data_format: "NHWC")", "[2,5,5,3]", "[3]"},
      {"SoftmaxCrossEntropyWithLogits", "", "[2,3] [?,3]", "[2] [2,3]"},
      {"SparseSoftmaxCrossEntropyWithLogits", "", "[2,3] [?]", "[2] [2,3]"},
      {"FusedBatchNorm", R"(data_format: "NHWC", is_training: true)", "[2,4,4,8] [8] [8] [0] [0]",
       "[2,4,4,8] [8] [8] [8] [8]"},
      {"FusedBatchNormGrad", R"(data_format: "NHWC", is_training: true)", "[2,4,4,8] [2,4,4,8] [8] [8] [8]",
       "[2,4,4,8] [8] [8] [0] [0]"},
      {"MatMul", "transpose_a: true, transpose_b: false", "[3,2] [3,4]", "[2,4]"},
      {"MatMul", "transpose_a: false, transpose_b: false", "[3,2] [3,4]", "!"},
      {"BatchMatMulV2", "adj_x: false, adj_y: true", "[5,1,2,3] [7,4,3]", "[5,7,2,4]"},
      {"BatchMatMul", "adj_x: false, adj_y: false", "[5,2,3] [5,3,4]", "[5,2,4]"},
      {"Einsum", R"(equation: "ij,jk->ik")", "[2,3] [3,4]", "[2,4]"},
      {"Sum", "keep_dims: true", "[2,3,4] =1", "[2,1,4]"},
      {"Sum", "keep_dims: false", "[2,3,4] =-1,0", "[3]"},
      {"Sum", "keep_dims: false", "[2,3,4] *", "*"},
      {"Prod", "keep_dims: false", "=2,3 =0", "#6"},
      {"ArgMax", "", "[2,3,4] #1", "[2,4]"},
      {"TopKV2", "", "[2,9] #5", "[2,5] [2,5]"},
      {"Cholesky", "", "[7,3,3]", "[7,3,3]"},
      {"SparseTensorDenseMatMul", "adjoint_a: false, adjoint_b: false", "[?,2] [?] =5,6 [6,7]", "[5,7]"},
      {"Conv2D", R"(strides: list(1,2,2,1), padding: "SAME", data_format: "NHWC")",
       "[8,224,224,3] [7,7,3,64]", "[8,112,112,64]"},
      {"Conv2D", R"(strides: list(1,2,2,1), padding: "VALID", data_format: "NHWC")", "[?,224,?,3] [7,7,3,64]",
       "[?,109,?,64]"},
      {"Conv2D", R"(strides: list(1,1,1,1), padding: "VALID", dilations: list(1,2,2,1), data_format: "NHWC")",
       "[1,9,9,3] [3,3,3,4]", "[1,5,5,4]"},
      {"Conv2D", R"(strides: list(1,1,2,2), padding: "SAME", data_format: "NCHW")", "[1,3,9,9] [3,3,3,4]",
       "[1,4,5,5]"},
      {"Conv2D",
       R"(strides: list(1,1,1,1), padding: "EXPLICIT", explicit_paddings: list(0,0,1,2,0,0,0,0), data_format: "NHWC")",
       "[1,9,9,3] [3,3,3,4]", "[1,10,7,4]"},
      {"Conv3D", R"(strides: list(1,2,2,2,1), padding: "SAME", data_format: "NDHWC")",
       "[1,8,8,8,3] [3,3,3,3,4]", "[1,4,4,4,4]"},
      {"Conv3D",
       R"(strides: list(1,1,1,1,1), dilations: list(1,1,2,3,1), padding: "VALID", data_format: "NDHWC")",
       "[3,4,5,7,1] [2,1,2,1,1]", "[3,3,5,?,1]"},
      {"DepthwiseConv2dNative", R"(strides: list(1,2,2,1), padding: "SAME", data_format: "NHWC")",
       "[1,9,9,3] [3,3,3,2]", "[1,5,5,6]"},
      {"Dilation2D", R"(strides: list(1,1,1,1), rates: list(1,1,1,1), padding: "VALID")", "[1,9,9,3] [3,3,3]",
       "[1,7,7,3]"},
      {"MaxPool", R"(ksize: list(1,2,2,1), strides: list(1,2,2,1), padding: "VALID", data_format: "NHWC")",
       "[1,9,9,3]", "[1,4,4,3]"},
      {"MaxPool3D",
       R"(ksize: list(1,2,2,2,1), strides: list(1,2,2,2,1), padding: "SAME", data_format: "NDHWC")",
       "[1,9,9,9,3]", "[1,5,5,5,3]"},
      {"MaxPoolV2", R"(padding: "VALID", data_format: "NHWC")", "[1,9,9,3] =1,2,2,1 =1,2,2,1", "[1,4,4,3]"},
      {"MaxPoolWithArgmax", R"(ksize: list(1,2,2,1), strides: list(1,2,2,1), padding: "VALID")", "[1,9,9,3]",
       "[1,4,4,3] [1,4,4,3]"},
      {"AvgPoolGrad", "", "=1,9,9,3 [1,4,4,3]", "[1,9,9,3]"},
      {"Conv2DBackpropFilter", "", "[1,9,9,3] =3,3,3,4 [1,9,9,4]", "[3,3,3,4]"},
      {"Conv2DBackpropInput", R"(strides: list(1,1,1,1), padding: "SAME", data_format: "NHWC")",
       "=1,9,9,3 [3,3,3,4] [1,9,9,4]", "[1,9,9,3]"},
      {"QuantizedConv2D", R"(strides: list(1,2,2,1), padding: "SAME")", "[1,8,8,3] [3,3,3,4] [] [] [] []",
       "[1,4,4,4] [] []"},
      {"QuantizedDepthwiseConv2D", R"(strides: list(1,2,2,1), padding: "SAME")",
       "[1,8,8,3] [3,3,3,2] [] [] [] []", "[1,4,4,6] [] []"},
      {"QuantizedMaxPool", R"(ksize: list(1,2,2,1), strides: list(1,2,2,1), padding: "VALID")",
       "[1,9,9,3] [] []", "[1,4,4,3] [] []"},
      {"StackV2", "", "#3", "[2]"},
      {"StackPushV2", "", "[2] [3,4]", "[3,4]"},
      {"QuantizedReshape", "", "[2,6] =3,4 [] []", "[3,4] [] []"},
      {"QuantizedRelu", "", "[2,6] [] []", "[2,6] [] []"},
      {"QuantizeV2", "", "[2,6] [] []", "[2,6] [] []"},
      {"QuantizeV2", "axis: 1", "[?,?] [6] *", "[?,?] [?] [?]"},
      {"QuantizeV2", "axis: 0", "[2,6] [] []", "!"},
      {"Dequantize", "axis: 1", "[2,6] [6] [6]", "[2,6]"},
      {"Dequantize", "axis: 1", "[2,6] [2] [2]", "!"},
      {"QuantizeAndDequantizeV4Grad", "axis: 0", "[2,6] [2,6] [2] [2]", "[2,6] [2] [2]"},
      {"QuantizedBiasAdd", "", "[2,6] [6] [] [] [] []", "[2,6] [] []"},
      {"QuantizedMatMul", "transpose_a: false, transpose_b: false", "[2,6] [6,3] [] [] [] []", "[2,3] [] []"},
      {"QuantizedAdd", "", "[2,1] [3] [] [] [] []", "[2,3] [] []"},
      {"ExtractImagePatches",
       R"(ksizes: list(1,3,3,1), strides: list(1,3,3,1), rates: list(1,1,1,1), padding: "VALID")",
       "[1,9,9,2]", "[1,3,3,18]"},
      {"ExtractImagePatches",
       R"(ksizes: list(1,4,1,1), strides: list(1,2,2,1), rates: list(1,1,1,1), padding: "VALID")",
       "[1,1,9,2]", "[1,0,5,8]"},
      {"ExtractVolumePatches", R"(ksizes: list(1,3,3,2,1), strides: list(1,3,3,1,1), padding: "VALID")",
       "[1,9,9,4,2]", "[1,3,3,3,36]"},
      {"Reshape", "", "[2,6] =-1,4", "[3,4]"},
      {"Reshape", "", "[2,6] =5,4", "!"},
      {"Reshape", "", "[?,6] =-1,3", "[?,3]"},
      {"Reshape", "", "#5 =1", "=5"},
      {"Squeeze", "squeeze_dims: list(1)", "[2,1,3,1]", "[2,3,1]"},
      {"Squeeze", "squeeze_dims: list(0)", "[2,1,3,1]", "!"},
      {"Squeeze", "squeeze_dims: list()", "[2,1,3,1]", "[2,3]"},
      {"ExpandDims", "", "[2,3] #-1", "[2,3,1]"},
      {"Transpose", "", "[2,3,4] =2,0,1", "[4,2,3]"},
      {"Tile", "", "[2,3] =2,1", "[4,3]"},
      {"Pad", "Tpaddings: DT_INT32", "[2,3] [2,2]", "[?,?]"},
      {"BroadcastTo", "", "[1,3] =2,3", "[2,3]"},
      {"BroadcastTo", "", "[4,1] =?,3", "[4,3]"},
      {"BroadcastTo", "", "[5,3] =4,2,3", "!"},
      {"BroadcastTo", "", "[1,3] =3", "!"},
      {"SpaceToBatch", "block_size: 2", "[1,4,4,3] [2,2]", "[4,?,?,3]"},
      {"BatchToSpace", "block_size: 2", "[4,2,2,3] [2,2]", "[1,?,?,3]"},
      {"SpaceToBatchND", "", "[1,4,4,3] =2,2 [2,2]", "[4,?,?,3]"},
      {"BatchToSpaceND", "", "[4,2,2,3] =2,2 [2,2]", "[1,?,?,3]"},
      {"SpaceToDepth", R"(block_size: 2, data_format: "NHWC")", "[1,4,4,3]", "[1,2,2,12]"},
      {"DepthToSpace", R"(block_size: 2, data_format: "NHWC")", "[1,2,2,12]", "[1,4,4,3]"},
      {"Diag", "", "[2,3]", "[2,3,2,3]"},
      {"DiagPart", "", "[2,3,2,3]", "[2,3]"},
      {"MatrixDiag", "", "[2,3]", "[2,3,3]"},
      {"MatrixDiagPart", "", "[2,3,4]", "[2,3]"},
      {"InvertPermutation", "", "[5]", "[5]"},
      {"Slice", "", "[5,6] =1,2 =2,-1", "[2,4]"},
      {"StridedSlice", "begin_mask: 0, end_mask: 0, ellipsis_mask: 0, new_axis_mask: 0, shrink_axis_mask: 1",
       "=7,8,9 =1 =2 =1", "#8"},
      {"StridedSlice", "begin_mask: 1, end_mask: 1, ellipsis_mask: 0, new_axis_mask: 0, shrink_axis_mask: 0",
       "[9,4] =0 =0 =2", "[5,4]"},
      {"StridedSlice", "begin_mask: 0, end_mask: 0, ellipsis_mask: 1, new_axis_mask: 2, shrink_axis_mask: 0",
       "[9,4] =0,0 =0,0 =1,1", "[9,4,1]"},
      {"StridedSliceGrad", "begin_mask: 0", "=9,4 =0 =2 =1 [2,4]", "[9,4]"},
      {"Split", "num_split: 2", "#1 [2,6]", "[2,3] [2,3]"},
      {"SplitV", "num_split: 2", "[2,6] =2,-1 #1", "[2,2] [2,4]"},
      {"Concat", "N: 2", "#1 [2,3] [?,4]", "[2,7]"},
      {"ConcatV2", "N: 2", "[2,3] [?,4] #1", "[2,7]"},
      {"ConcatV2", "N: 2", "[2,3] [5,4] #1", "!"},
      {"ConcatV2", "N: 2", "=1,2 =3 #0", "=1,2,3"},
      {"ConcatOffset", "N: 2", "#0 =1,2 =3,2", "=0,0 =1,0"},
      {"Pack", "axis: 0, N: 2, T: DT_INT32", "#1 #?", "=1,?"},
      {"Pack", "axis: 1, N: 2", "[3,4] [3,?]", "[3,2,4]"},
      {"Unpack", "axis: 1, num: 2", "[3,2,4]", "[3,4] [3,4]"},
      {"Gather", "", "[9,4] [2,3]", "[2,3,4]"},
      {"GatherV2", "batch_dims: 0", "[9,4] [2] #1", "[9,2]"},
      {"GatherNd", "", "[9,4,5] [7,2]", "[7,5]"},
      {"ResourceGather", "batch_dims: 0", "@[9,4] [2,3]", "[2,3,4]"},
      {"ResourceGatherNd", "", "@[9,4,5] [7,2]", "[7,5]"},
      {"ScatterNd", "", "[7,1] [7,4] =9,4", "[9,4]"},
      {"OneHot", "axis: -1", "[2,3] #5 [] []", "[2,3,5]"},
      {"Where", "", "[2,3]", "[?,2]"},
      {"Unique", "", "[5]", "[?] [5]"},
      {"UniqueV2", "", "[5] =0", "[?] [5]"},
      {"ListDiff", "", "[5] [3]", "[?] [?]"},
      {"SegmentSum", "", "[5,4] [5]", "[?,4]"},
      {"UnsortedSegmentSum", "", "[5,4] [5] #3", "[3,4]"},
      {"SparseSegmentSum", "", "[5,4] [2] [2]", "[?,4]"},
      {"SparseSegmentSumWithNumSegments", "", "[5,4] [2] [2] #3", "[3,4]"},
      {"DynamicStitch", "N: 2", "[2] [3] [2,4] [3,4]", "[?,4]"},
      {"DynamicPartition", "num_partitions: 2", "[5,4] [5]", "[?,4] [?,4]"},
      {"InTopK", "k: 3", "[5,9] [?]", "[5]"},
      {"Const", "dtype: DT_INT32, value: tensor(DT_INT32 [2], 3, 4)", "", "=3,4"},
      {"Shape", "", "[2,?]", "=2,?"},
      {"Size", "", "[2,3]", "#6"},
      {"Rank", "", "[2,3]", "#2"},
      {"Fill", "", "=2,? []", "[2,?]"},
      {"Range", "", "#1 #7 #2", "=1,3,5"},
      {"LinSpace", "", "[] [] #5", "[5]"},
      {"RandomUniform", "", "=2,3", "[2,3]"},
      {"Multinomial", "", "[2,9] #5", "[2,5]"},
      {"BroadcastArgs", "", "=2,1 =3", "=2,3"},
      {"BroadcastGradientArgs", "", "=2,1 =3", "=1 =0"},
      {"Placeholder", "shape: [?,3]", "", "[?,3]"},
      {"PlaceholderWithDefault", "shape: [?,3]", "[2,3]", "[?,3]"},
      {"EnsureShape", "shape: [?,3]", "[2,?]", "[2,3]"},
      {"VariableV2", "shape: [2,3]", "", "[2,3]"},
      {"Variable", "shape: []", "", "*"},
      {"VarHandleOp", "shape: [2,3]", "", "@[2,3]"},
      {"ReadVariableOp", "", "@[2,3]", "[2,3]"},
      {"VariableShape", "", "@[2,3]", "=2,3"},
      {"Assign", "validate_shape: true", "[?,3] [2,?]", "[2,3]"},
      {"TensorArrayV3", "element_shape: [2]", "#3", "@[2] []"},
      {"TensorArrayReadV3", "", "@[2] [] []", "[2]"},
      {"TensorArrayGatherV3", "", "@[2] [5] []", "[5,2]"},
      {"TensorArrayConcatV3", "element_shape_except0: [4]", "@[2,4] []", "[?,4] [?]"},
      {"TensorArrayGradV3", "", "@[2] []", "@[2] []"},
      {"TensorListReserve", "", "=2,3 #5", "@[2,3]"},
      {"TensorListFromTensor", "", "[5,2] =2", "@[2]"},
      {"TensorListGetItem", "", "@[2] [] =2", "[2]"},
      {"TensorListStack", "num_elements: -1", "@[2] =2", "[?,2]"},
      {"TensorListConcat", "element_shape: [?,2]", "@[3,2]", "[?,2] [?]"},
      {"TensorListConcatV2", "", "@[3,2] =-1,2 [?]", "[?,2] [?]"},
      {"TensorListGather", "", "@[2] [5] =2", "[5,2]"},
      {"TensorListPushBack", "", "@[2] [2]", "@[2]"},
      {"FIFOQueueV2", "shapes: list([4],[])", "", "@[1,4,0]"},
      {"FIFOQueue", "shapes: list([4])", "", "@[1,4]"},
      {"PriorityQueueV2", "shapes: list([4])", "", "@[0,1,4]"},
      {"PriorityQueue", "shapes: list([4])", "", "@[0,1,4]"},
      {"QueueDequeueV2", "", "@[1,4,0]", "[4] []"},
      {"QueueDequeueManyV2", "", "@[2,4,?] #16", "[16,4,?]"},
      {"QueueDequeueUpToV2", "", "@[1,4] #16", "[?,4]"},
      {"TensorListPopBack", "", "@[2] =2", "@[2] [2]"},
      {"TensorListSetItem", "", "@[2] [] [2]", "@[2]"},
      {"TensorListElementShape", "", "@[2,3]", "=2,3"},
      {"LookupTableFindV2", "", "[] [2,3] []", "[2,3]"},
      {"EncodePng", "", "[9,?,3]", "[]"},
      {"EncodePng", "", "[2,?,9,9,3]", "[2,?]"},
      {"ResizeBilinear", "", "[1,9,9,3] =4,5", "[1,4,5,3]"},
      {"ResizeBilinearGrad", "", "[1,4,5,3] [1,9,9,3]", "[1,9,9,3]"},
      {"CropAndResize", "", "[1,9,9,3] [7,4] [7] =4,5", "[7,4,5,3]"},
      {"NonMaxSuppressionV3", "", "[9,4] [9] #5 [] []", "[?]"},
      {"NonMaxSuppressionV4", "pad_to_max_output_size: true", "[9,4] [9] #5 [] []", "[5] []"},
      {"NonMaxSuppressionV5", "pad_to_max_output_size: false", "[9,4] [9] #5 [] [] []", "[?] [?] []"},
      {"CombinedNonMaxSuppression", "pad_per_class: false", "[2,9,1,4] [2,9,3] #5 #7 [] []",
       "[2,7,4] [2,7] [2,7] [2]"},
      {"DecodeJpeg", "channels: 3", "[]", "[?,?,3]"},
      {"DecodeGif", "", "[]", "[?,?,?,3]"},
      {"DecodeImage", "channels: 3, expand_animations: false", "[]", "[?,?,3]"},
      {"SampleDistortedBoundingBox", "", "[3] [1,2,4]", "[3] [3] [1,1,4]"},
      {"RFFT", "", "[2,8] =8", "[2,5]"},
      {"IRFFT", "", "[2,5] =8", "[2,8]"},
      {"Mfcc", "dct_coefficient_count: 13", "[1,9,40] []", "[1,9,13]"},
      {"AudioSpectrogram", "window_size: 10, stride: 5", "[30,1]", "[1,5,9]"},
      {"DecodeWav", "desired_channels: 1, desired_samples: 16000", "[]", "[16000,1] []"},
      {"ParseExample", "Nsparse: 1, Ndense: 1, dense_shapes: list([3])", "[7] [0] [] [] [3]",
       "[?,2] [?] [2] [7,3]"},
      {"ParseExampleV2", "num_sparse: 0, dense_shapes: list([3])", "[7] [0] [0] [1] [0] [3]", "[7,3]"},
      {"ParseSingleExample", "num_sparse: 1, dense_shapes: list([3])", "[] [3]", "[?,1] [?] [1] [3]"},
      {"DecodeRaw", "", "[7]", "[7,?]"},
      {"DecodeCSV", "", "[7] [1] [1]", "[7] [7]"},
      {"StringSplit", "", "[7] []", "[?,2] [?] [2]"},
      {"StringJoin", "N: 2", "[7] []", "[7]"},
      {"SparseToDense", "", "[5,2] =7,8 [5] []", "[7,8]"},
      {"SparseReshape", "", "[5,2] =7,8 [1]", "[5,1] [1]"},
      {"SparseReorder", "", "[5,2] [5] [2]", "[5,2] [5]"},
      {"SparseFillEmptyRows", "", "[5,2] [5] [2] []", "[?,2] [?] [?] [5]"},
      {"SparseSlice", "", "[5,2] [5] [2] [2] [2]", "[?,2] [?] [2]"},
      {"SparseConcat", "N: 2, concat_dim: 0", "[5,2] [3,2] [5] [3] [2] [2]", "[8,2] [8] [2]"},
      {"SparseCross", "N: 1", "[5,2] [5] [2]", "[?,2] [?] [2]"},
      {"ReaderReadV2", "", "[] []", "[] []"},
      {"CTCGreedyDecoder", "", "[9,2,5] [2]", "[?,2] [?] [2] [2,1]"},
      {"CTCLoss", "", "[9,2,5] [?,2] [?] [2]", "[2] [9,2,5]"},
      {"LSTMBlockCell", "", "[2,3] [2,4] [2,4] [7,16] [4] [4] [4] [16]",
       "[2,4] [2,4] [2,4] [2,4] [2,4] [2,4] [2,4]"},
      {"BlockLSTM", "", "[] [9,2,3] [2,4] [2,4] [7,16] [4] [4] [4] [16]",
       "[9,2,4] [9,2,4] [9,2,4] [9,2,4] [9,2,4] [9,2,4] [9,2,4]"},
      {"GRUBlockCell", "", "[2,3] [2,4] [7,8] [7,4] [8] [4]", "[2,4] [2,4] [2,4] [2,4]"},
      {"CudnnRNN", R"(rnn_mode: "lstm", direction: "unidirectional", input_mode: "linear_input")",
       "[9,2,3] [1,2,4] [1,2,4] [?]", "[9,2,4] [1,2,4] [1,2,4] *"},
      {"Enter", "", "=3", "=3"},
      {"Switch", "", "=3 []", "=3 =3"},
      {"Switch", "", "[3] [1]", "!"},
      {"ReverseSequence", "seq_dim: 0, batch_dim: 0", "[4] [?]", "[4]"},
      {"SoftmaxCrossEntropyWithLogits", "", "[3] [2,3]", "[2] [2,3]"},
      {"NonMaxSuppressionWithOverlaps", "", "[5,5] [5] [] [] []", "[?]"},
      {"NonMaxSuppressionWithOverlaps", "", "[5,5] [6] [] [] []", "!"},
      {"ApproximateEqual", "", "[1,3] [2,3]", "!"},
      {"SplitV", "num_split: 2", "[3,4] =3,3 #0", "!"},
      {"SplitV", "num_split: 2", "[3,4] =-1,2 #0", "[1,4] [2,4]"},
      {"SplitV", "num_split: 2", "[3,4] =3,0,0 #0", "!"},
      {"SplitV", "num_split: 2", "[3,4] [3] #0", "[?,4] [?,4]"},
      {"Mean", "keep_dims: false", "[3,4] [1,2]", "!"},
      {"Conv2DBackpropInput", "", "[] [3,3,3,8] [1,4,4,8]", "!"},
      {"_SwitchN", "", "[3] []", "[3] [3]"},
      {"Merge", "", "[2,3] [2,4]", "[2,?] []"},
  };
}

class Speller {
 public:
  Dims dims;

  std::vector<Fact> read(const std::string& text) {
    std::vector<Fact> facts;
    std::istringstream words(text);
    for (std::string word; words >> word;) facts.push_back(fact(word));
    return facts;
  }

  std::string text(const Fact& fact) const {
    if (fact.has_value()) return (dims.of(fact.shape).empty() ? "#" : "=") + list(dims.of(fact.list()));
    if (fact.has_handle()) return "@" + shape(fact.list());
    return shape(fact.shape);
  }

 private:
  Fact fact(const std::string& word) {
    if (word[0] == '@') return shaping::handled(shaping::kScalar, shape_list(word.substr(1)));
    if (word[0] != '=' && word[0] != '#') return {shape_list(word), 0};
    const std::vector<Dim> elements = numbers(word.substr(1));
    const Dim count = static_cast<Dim>(elements.size());
    return shaping::valued(word[0] == '#' ? shaping::kScalar : dims.list({&count, 1}), dims.list(elements));
  }

  shaping::ListId shape_list(const std::string& word) {
    return word == "*" ? shaping::kNoRank : dims.list(numbers(word.substr(1, word.size() - 2)));
  }

  std::vector<Dim> numbers(const std::string& text) {
    std::vector<Dim> found;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');)
      found.push_back(part == "?" ? dims.fresh(77, next_++) : std::stoll(part));
    return found;
  }

  static std::string list(std::span<const Dim> elements) {
    std::string text;
    for (const Dim dim : elements) {
      if (!text.empty()) text += ',';
      text += shaping::is_number(dim) ? std::to_string(dim) : "?";
    }
    return text;
  }

  std::string shape(shaping::ListId id) const {
    return id == shaping::kNoRank ? "*" : "[" + list(dims.of(id)) + "]";
  }

  uint64_t next_ = 0;
};

std::string given(const RuleCase& one) {
  Speller speller;
  Subject subject(speller.dims, 1);
  subject.op = one.op;
  subject.producer = 27;
  subject.inputs = speller.read(one.inputs);
  subject.awaited.assign(subject.inputs.size(), false);
  std::string node;
  if (!one.attrs.empty()) {
    const std::string written = "n = " + one.op + "() {" + one.attrs + "}";
    Scanner scanner(written, "case");
    node = parse_node(scanner);
    each_attr(node,
              [&](std::string_view key, std::string_view value) { subject.attrs.emplace_back(key, value); });
  }
  subject.node_def = node;
  const auto blanks = std::count(one.outputs.begin(), one.outputs.end(), ' ');
  subject.outputs.resize(one.outputs.empty() ? 0 : static_cast<size_t>(blanks) + 1);
  shaping::hold_ranks(subject, shaping::ranks_of(one.op));
  shaping::rule_of(one.op)(subject);
  if (!subject.contradiction.empty()) return "!";
  std::string text;
  for (const Fact& fact : subject.outputs) text += (text.empty() ? "" : " ") + speller.text(fact);
  return text;
}

TEST(ShapeRules, SayWhatTensorFlowSays) {
  for (const RuleCase& one : rule_cases()) {
    ASSERT_NE(shaping::rule_of(one.op), nullptr) << one.op;
    EXPECT_EQ(given(one), one.outputs) << one.op << " {" << one.attrs << "} " << one.inputs;
  }
}

TEST(ShapeRules, EachHasACase) {
  std::set<shaping::Rule> tried;
  for (const RuleCase& one : rule_cases()) tried.insert(shaping::rule_of(one.op));
  std::string missing;
  for (const std::string_view op : shaping::ops_with_rules()) {
    if (tried.insert(shaping::rule_of(op)).second) (missing += op) += ' ';
  }
  EXPECT_EQ(missing, "");
}

}  // namespace gedit::shapes_test
