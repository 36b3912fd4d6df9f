// Which rank the inputs of an op must have, whatever its attributes say.
#include "shape/ranks.h"

#include <algorithm>
#include <array>

namespace gedit::shaping {
namespace {

// By input, between blanks: a rank, `2+` for 2 at least, `*` for any; inputs behind the last are of any.
struct RankedOps {
  std::string_view ranks, ops;
};

// What TensorFlow 1.15 and 2.21 both refuse at import, of graphs of any version.
constexpr auto kRanks = std::to_array<RankedOps>({
    {"0", "DecodeBmp DecodeGif DecodeJpeg DecodePng DecodeWav LoopCond ReadFile"},
    {"0 0", "ShardedFilespec"},
    {"0 0 0", "LinSpace Range RangeDataset ShardedFilename"},
    {"0 1", "DecodeAndCropJpeg"},
    {"1",
     "AvgPool3DGrad AvgPoolGrad Conv2DBackpropInput Conv3DBackpropInputV2 "
     "DepthwiseConv2dNativeBackpropInput Empty InvertPermutation "
     "ParameterizedTruncatedNormal RandomGamma RandomPoissonV2 RandomStandardNormal RandomUniform "
     "StridedSliceGrad TruncatedNormal"},
    {"1 0", "Fill StringSplit StringSplitV2"},
    {"1 0 0", "RandomUniformInt"},
    {"1 1",
     "BroadcastArgs BroadcastGradientArgs ListDiff StatelessRandomNormal StatelessRandomUniform "
     "StatelessTruncatedNormal"},
    {"1 1 0 0", "StatelessRandomUniformInt"},
    {"1 3", "SampleDistortedBoundingBox"},
    {"1 3 0", "SampleDistortedBoundingBoxV2"},
    {"1+", "Diag FFT Gather HSVToRGB IFFT LogSoftmax MatrixDiag RGBToHSV Roll Softmax SplitV TopKV2 Unpack"},
    {"1+ 1", "IRFFT RFFT SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum"},
    {"1+ 1 1", "FakeQuantWithMinMaxVarsPerChannel SparseSegmentMean SparseSegmentSqrtN SparseSegmentSum"},
    {"1+ 1 1 0",
     "SparseSegmentMeanGrad SparseSegmentMeanWithNumSegments SparseSegmentSqrtNGrad "
     "SparseSegmentSqrtNWithNumSegments SparseSegmentSumWithNumSegments"},
    {"1+ 1+", "Cross TensorScatterAdd TensorScatterSub TensorScatterUpdate"},
    {"1+ 1+ 1", "ScatterNd"},
    {"1+ * 0", "GatherV2"},
    {"1+ * 0 0 0", "MatrixDiagV2"},
    {"2",
     "AudioSpectrogram LearnedUnigramCandidateSampler LogUniformCandidateSampler "
     "UniformCandidateSampler"},
    {"2 0", "EncodeWav Multinomial"},
    {"2 0 1", "StatelessMultinomial"},
    {"2 1", "InTopK InTopKV2 SparseSoftmaxCrossEntropyWithLogits"},
    {"2 1 0", "NonMaxSuppression"},
    {"2 1 0 0", "NonMaxSuppressionV2"},
    {"2 1 0 0 0", "NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionWithOverlaps"},
    {"2 1 0 0 0 0", "NonMaxSuppressionV5"},
    {"2 1 1", "SparseReorder SparseReshape SparseSoftmax"},
    {"2 1 1 0", "SparseFillEmptyRows"},
    {"2 1 1 2", "SparseTensorDenseMatMul"},
    {"2 1 1 2 1 1", "EditDistance"},
    {"2 2", "GRUBlockCell LSTMBlockCell LowerBound MatMul SparseMatMul UpperBound"},
    {"2 2 0 0 0 0", "QuantizedMatMul"},
    {"2+",
     "Cholesky CholeskyGrad FFT2D IFFT2D LogMatrixDeterminant MatrixDeterminant MatrixDiagPart "
     "MatrixInverse Qr SelfAdjointEigV2 Svd"},
    {"2+ 1", "IRFFT2D RFFT2D"},
    {"2+ 1 0 0 0 0", "QuantizedBiasAdd"},
    {"2+ 1+", "MatrixSetDiag MatrixSetDiagV2"},
    {"2+ 2+", "BatchMatMul BatchMatMulV2 MatrixSolve MatrixTriangularSolve"},
    {"2+ 2+ 0", "MatrixSolveLs"},
    {"2+ * 0", "MatrixDiagPartV2"},
    {"3", "EncodeJpeg"},
    {"3 0", "Mfcc"},
    {"3 1", "CTCGreedyDecoder"},
    {"3 2 1 1", "CTCLoss"},
    {"3+", "AdjustHue AdjustSaturation DrawBoundingBoxesV2 FFT3D IFFT3D"},
    {"3+ 0", "AdjustContrastv2"},
    {"3+ 1", "IRFFT3D RFFT3D"},
    {"4", "ExtractImagePatches FractionalAvgPool FractionalMaxPool LRN MaxPoolGrad MaxPoolGradV2"},
    {"4 0 0", "QuantizedAvgPool QuantizedInstanceNorm QuantizedMaxPool"},
    {"4 1",
     "ResizeArea ResizeBicubic ResizeBilinear ResizeNearestNeighbor ResizeNearestNeighborGrad "
     "ScaleAndTranslate"},
    {"4 1 0 0", "QuantizedResizeBilinear"},
    {"4 1 2", "ExtractGlimpse"},
    {"4 2", "BatchToSpace SpaceToBatch"},
    {"4 2 1 1", "CropAndResize"},
    {"4 3", "Dilation2D DrawBoundingBoxes"},
    {"4 3 0 0 0 0", "CombinedNonMaxSuppression"},
    {"4 4", "DepthwiseConv2dNative MaxPoolGradGrad QuantizedDepthwiseConv2D"},
    {"4 4 0 0 0 0", "QuantizedConv2D"},
    {"4 4 4", "LRNGrad"},
    {"5", "AvgPool3D ExtractVolumePatches MaxPool3D MaxPool3DGrad"},
    {"5 5", "Conv3D"},
    {"* 0",
     "ArgMax ArgMin BatchDataset Bincount CacheDataset CacheDatasetV2 PrefetchDataset RegexFullMatch "
     "RepeatDataset SkipDataset Switch TakeDataset"},
    {"* 0 0",
     "BatchDatasetV2 FakeQuantWithMinMaxVars QuantizeDownAndShrinkRange QuantizedRelu QuantizedRelu6 "
     "RegexReplace RequantizationRange TFRecordDataset TextLineDataset"},
    {"* 0 0 0", "QuantizedReluX ShuffleDataset"},
    {"* 0 0 0 0", "Requantize"},
    {"* 1",
     "BroadcastTo Conv2DBackpropFilter Conv3DBackpropFilterV2 DepthwiseConv2dNativeBackpropFilter "
     "Reverse ReverseSequence ReverseV2 SparseToDense Tile"},
    {"* 1 0", "HistogramFixedWidth"},
    {"* 1 0 0", "QuantizedReshape"},
    {"* 1 1",
     "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 MaxPoolV2 RequantizationRangePerChannel Slice"},
    {"* 1 1 1", "StridedSlice"},
    {"* 1+", "GatherNd ResourceGatherNd ScatterNdNonAliasingAdd"},
    {"* 2", "MirrorPad Pad PadV2"},
    {"* 3 * * * * * * 1", "BlockLSTM BlockLSTMV2"},
    {"* 4 1 1 1", "FusedBatchNormGrad FusedBatchNormGradV2"},
    {"* * 0",
     "ReaderReadUpToV2 UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum"},
    {"* * 0 0 0 0", "QuantizedAdd"},
    {"* * 1", "SparseAdd"},
});

}  // namespace

std::string_view ranks_of(std::string_view op) {
  for (const RankedOps& row : kRanks) {
    for (std::string_view rest = row.ops; !rest.empty();) {
      const size_t end = std::min(rest.find(' '), rest.size());
      if (rest.substr(0, end) == op) return row.ranks;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return {};
}

void hold_ranks(Subject& node, std::string_view ranks) {
  size_t input = 0;
  for (size_t at = 0; at < ranks.size(); ++at) {
    const char rank = ranks[at];
    if (rank == ' ') ++input;
    if (rank < '0' || rank > '9') continue;
    const auto wanted = static_cast<size_t>(rank - '0');
    if (at + 1 < ranks.size() && ranks[at + 1] == '+') {
      node.at_least_rank(input, wanted);
    } else if (const Ranked known = node.shape(input); known && known->size() != wanted) {
      // Not asked where the rank is unknown: it would make up sizes, and the node have its own.
      node.of_rank(input, wanted);
    }
  }
}

}  // namespace gedit::shaping
