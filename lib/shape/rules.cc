// The table of rules: families of ops, and the rule of each.
#include <algorithm>
#include <array>

#include "shape/rules.h"

namespace gedit::shaping {
namespace {

struct Family {
  Rule rule;
  std::string_view ops;  // between blanks
};

// What is not here gives something of which nothing is known.
constexpr auto kFamilies = std::to_array<Family>({
    {same, "Copy CopyHost DebugIdentity DeepCopy Identity PreventGradient RefIdentity Snapshot StopGradient"},
    {same_shape,
     "Abs Acos Acosh AdjustContrastv2 AdjustHue AdjustSaturation Angle ApplyAdadelta ApplyAdagrad "
     "ApplyAdam ApplyCenteredRMSProp ApplyFtrl ApplyGradientDescent ApplyMomentum "
     "ApplyProximalGradientDescent ApplyRMSProp AsString Asin Asinh AssignAdd AssignSub Atan Atanh "
     "BesselI0 BesselI0e BesselI1 BesselI1e Bucketize Ceil CheckNumerics CheckNumericsV2 ClipByValue "
     "CollectiveBcastSend CollectiveReduce CollectiveReduceV2 ComplexAbs Conj Cos Cosh CountUpTo "
     "Cumprod Cumsum CumulativeLogsumexp DataFormatDimMap DataFormatVecPermute DebugIdentityV2 "
     "DebugIdentityV3 DecodeBase64 DecodeCompressed DestroyTemporaryVariable Digamma "
     "DrawBoundingBoxes DrawBoundingBoxesV2 Elu EncodeBase64 Erf Erfc Erfinv Exp Expm1 FFT FFT2D FFT3D "
     "FakeQuantWithMinMaxArgs FakeQuantWithMinMaxArgsGradient FakeQuantWithMinMaxVars "
     "FakeQuantWithMinMaxVarsPerChannel Floor HSVToRGB IFFT IFFT2D IFFT3D Imag InplaceAdd InplaceSub "
     "InplaceUpdate Inv InvGrad Invert IsFinite IsInf IsNan LRN LRNGrad LeakyRelu Lgamma Log Log1p "
     "LogSoftmax "
     "LogicalNot MatrixBandPart MatrixExponential MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3 "
     "MaxPool3DGrad MaxPoolGrad NcclAllReduce Ndtri OnesLike PopulationCount Print "
     "QuantizeAndDequantize RGBToHSV RandomShuffle Real Reciprocal ReciprocalGrad RegexFullMatch "
     "RegexReplace Relu Relu6 Reverse ReverseSequence ReverseV2 Rint Roll Round Rsqrt RsqrtGrad ScatterAdd "
     "ScatterDiv ScatterMax "
     "ScatterMin ScatterMul ScatterNdAdd ScatterNdNonAliasingAdd ScatterNdSub ScatterNdUpdate "
     "ScatterSub ScatterUpdate Selu Sigmoid SigmoidGrad Sign Sin Sinh Softmax Softplus Softsign "
     "SparseApplyAdadelta SparseApplyAdagrad SparseApplyFtrl SparseApplyMomentum SparseApplyRMSProp "
     "Sqrt SqrtGrad Square StaticRegexFullMatch StaticRegexReplace StringLength StringLower StringStrip "
     "StringToHashBucket StringToHashBucketFast StringToHashBucketStrong StringToNumber StringUpper "
     "Substr Tan Tanh TanhGrad TensorScatterAdd TensorScatterMax TensorScatterMin TensorScatterSub "
     "TensorScatterUpdate TensorStridedSliceUpdate UnicodeScript UnicodeTranscode ZerosLike"},
    {same_all, "IdentityN"},
    {cast, "Cast"},
    {broadcast,
     "Atan2 BitwiseAnd BitwiseOr BitwiseXor Complex Div DivNoNan Greater "
     "GreaterEqual Igamma IgammaGradA Igammac LeftShift Less LessEqual LogicalAnd LogicalOr "
     "MulNoNan NextAfter Polygamma Pow RandomGammaGrad RealDiv RightShift SquaredDifference TruncateDiv "
     "Xdivy Xlog1py Xlogy Zeta"},
    {broadcast_three, "Betainc SelectV2"},
    {compare, "Equal NotEqual"},
    {select, "Select"},
    {add_n, "AccumulateNV2 AddN"},
    {add_values, "Add AddV2"},
    {subtract_values, "Sub"},
    {multiply_values, "Mul"},
    {divide_values, "FloorDiv"},
    {floor_mod_values, "FloorMod"},
    {truncate_mod_values, "Mod TruncateMod"},
    {negate_values, "Neg"},
    {maximum_values, "Maximum"},
    {minimum_values, "Minimum"},
    {scalars,
     "AnonymousHashTable AudioSummary AudioSummaryV2 BatchDataset BatchDatasetV2 CacheDataset "
     "CacheDatasetV2 ConcatenateDataset EncodeJpeg EncodeWav FilterDataset "
     "FixedLengthRecordReaderV2 FlatMapDataset GetSessionHandle GetSessionHandleV2 HashTableV2 "
     "HistogramSummary IdentityReaderV2 ImageSummary InterleaveDataset IsVariableInitialized Iterator "
     "IteratorFromStringHandle IteratorFromStringHandleV2 IteratorGetNextAsOptional IteratorV2 L2Loss "
     "LookupTableSize LookupTableSizeV2 MapDataset MergeSummary RequantizationRange "
     "RequantizationRangePerChannel ModelDataset MutableDenseHashTableV2 "
     "MutableHashTableOfTensorsV2 MutableHashTableV2 OneShotIterator OptimizeDataset OptimizeDatasetV2 "
     "OptionalFromValue OptionalHasValue OptionalNone OptionsDataset PaddedBatchDataset "
     "PaddedBatchDatasetV2 ParallelMapDataset ParallelMapDatasetV2 PrefetchDataset "
     "QueueIsClosedV2 QueueSize QueueSizeV2 RangeDataset ReadFile "
     "RepeatDataset ScalarSummary ShardedFilename ShardedFilespec ShuffleDataset ShuffleDatasetV3 "
     "SkipDataset StringFormat TFRecordDataset TFRecordReaderV2 TakeDataset "
     "TensorArrayScatterV3 TensorArraySizeV2 TensorArraySizeV3 TensorArraySplitV3 TensorArrayWriteV2 "
     "TensorArrayWriteV3 TensorDataset TensorListLength TensorSliceDataset TensorSummary "
     "TensorSummaryV2 TextLineDataset TextLineReaderV2 Timestamp VarIsInitializedOp WholeFileReaderV2 "
     "ZipDataset"},
    {vectors, "MatchingFiles"},
    {queue, "FIFOQueueV2 PaddingFIFOQueueV2 RandomShuffleQueueV2"},
    {queue_reference, "FIFOQueue PaddingFIFOQueue RandomShuffleQueue"},
    {priority_queue, "PriorityQueueV2"},
    {priority_queue_reference, "PriorityQueue"},
    {dequeue, "QueueDequeue QueueDequeueV2"},
    {dequeue_many, "QueueDequeueMany QueueDequeueManyV2"},
    {dequeue_up_to, "QueueDequeueUpTo QueueDequeueUpToV2"},
    {from_shape_attr, "PlaceholderV2 ImmutableConst InfeedDequeue OutfeedDequeue ParallelConcat"},
    {from_shapes_attr,
     "DatasetToSingleElement InfeedDequeueTuple IteratorGetNext IteratorGetNextSync OptionalGetValue "
     "ReduceDataset"},
    {as_first_two,
     "ApproximateEqual Cross EluGrad LeakyReluGrad Relu6Grad ReluGrad SeluGrad SoftplusGrad SoftsignGrad"},
    {bias_add, "BiasAdd BiasAddV1"},
    {bias_add_grad, "BiasAddGrad"},
    {softmax_cross_entropy, "SoftmaxCrossEntropyWithLogits"},
    {sparse_softmax_cross_entropy, "SparseSoftmaxCrossEntropyWithLogits"},
    {batch_norm, "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3"},
    {batch_norm_grad, "FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3"},
    {mat_mul, "MatMul SparseMatMul"},
    {batch_mat_mul, "BatchMatMulV2 BatchMatMulV3"},
    {batch_mat_mul_v1, "BatchMatMul"},
    {einsum, "Einsum"},
    {reduce, "All Any EuclideanNorm Max Mean Min ReduceJoin Sum"},
    {reduce_product, "Prod"},
    {arg_extreme, "ArgMax ArgMin"},
    {top_k, "TopK TopKV2"},
    {square_batches, "Cholesky CholeskyGrad MatrixInverse"},
    {sparse_dense_mat_mul, "SparseTensorDenseMatMul"},
    {conv_2d, "Conv2D"},
    {conv_3d, "Conv3D"},
    {depthwise_conv, "DepthwiseConv2dNative"},
    {dilation, "Dilation2D"},
    {pool_2d, "AvgPool MaxPool"},
    {pool_3d, "AvgPool3D MaxPool3D"},
    {pool_v2, "MaxPoolV2"},
    {pool_with_argmax, "MaxPoolWithArgmax"},
    {sizes_of_first, "AvgPool3DGrad AvgPoolGrad Conv3DBackpropInputV2 DepthwiseConv2dNativeBackpropInput"},
    {sizes_of_second, "Conv2DBackpropFilter Conv3DBackpropFilterV2 DepthwiseConv2dNativeBackpropFilter"},
    {sizes_input_gradient, "Conv2DBackpropInput"},
    {quantized_conv, "QuantizedConv2D"},
    {quantized_depthwise_conv, "QuantizedDepthwiseConv2D"},
    {quantized_pool, "QuantizedAvgPool QuantizedMaxPool"},
    {stack, "StackV2"},
    {second, "StackPushV2"},
    {quantized_reshape, "QuantizedReshape"},
    {quantized_first,
     "QuantizeDownAndShrinkRange QuantizedInstanceNorm QuantizedRelu QuantizedRelu6 "
     "QuantizedReluX Requantize RequantizePerChannel"},
    {quantize, "QuantizeV2"},
    {dequantize, "Dequantize QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeAndDequantizeV4"},
    {quantize_gradient, "QuantizeAndDequantizeV4Grad"},
    {quantized_bias_add, "QuantizedBiasAdd"},
    {quantized_mat_mul, "QuantizedMatMul"},
    {quantized_binary, "QuantizedAdd QuantizedMul"},
    {image_patches, "ExtractImagePatches"},
    {volume_patches, "ExtractVolumePatches"},
    {reshape, "Reshape"},
    {squeeze, "Squeeze"},
    {expand_dims, "ExpandDims"},
    {transpose, "ConjugateTranspose Transpose"},
    {tile, "Tile"},
    {pad, "MirrorPad Pad PadV2"},
    {broadcast_to, "BroadcastTo"},
    {space_to_batch, "SpaceToBatch"},
    {batch_to_space, "BatchToSpace"},
    {space_to_batch_nd, "SpaceToBatchND"},
    {batch_to_space_nd, "BatchToSpaceND"},
    {space_to_depth, "SpaceToDepth"},
    {depth_to_space, "DepthToSpace"},
    {diag, "Diag"},
    {diag_part, "DiagPart"},
    {matrix_diag, "MatrixDiag MatrixDiagV2 MatrixDiagV3"},
    {matrix_diag_part, "MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3"},
    {invert_permutation, "InvertPermutation"},
    {slice, "Slice"},
    {strided_slice, "StridedSlice"},
    {strided_slice_grad, "StridedSliceGrad"},
    {split, "Split"},
    {split_v, "SplitV"},
    {concat, "Concat"},
    {concat_v2, "ConcatV2"},
    {concat_offset, "ConcatOffset"},
    {pack, "Pack"},
    {unpack, "Unpack"},
    {gather, "Gather"},
    {gather_v2, "GatherV2"},
    {gather_nd, "GatherNd"},
    {resource_gather, "ResourceGather"},
    {resource_gather_nd, "ResourceGatherNd"},
    {scatter_nd, "ScatterNd"},
    {one_hot, "OneHot"},
    {where, "Where"},
    {unique, "Unique UniqueWithCounts"},
    {unique_v2, "UniqueV2 UniqueWithCountsV2"},
    {list_diff, "ListDiff"},
    {segment_sum, "SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum"},
    {unsorted_segment_sum, "UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum"},
    {sparse_segment, "SparseSegmentMean SparseSegmentSqrtN SparseSegmentSum"},
    {sparse_segment_rows,
     "SparseSegmentMeanGrad SparseSegmentMeanWithNumSegments SparseSegmentSqrtNGrad "
     "SparseSegmentSqrtNWithNumSegments SparseSegmentSumGrad SparseSegmentSumWithNumSegments"},
    {dynamic_stitch, "DynamicStitch ParallelDynamicStitch"},
    {dynamic_partition, "DynamicPartition"},
    {in_top_k, "InTopK InTopKV2"},
    {constant, "Const"},
    {shape, "Shape ShapeN"},
    {size, "Size"},
    {rank, "Rank"},
    {fill, "Fill"},
    {range, "Range"},
    {lin_space, "LinSpace"},
    {random,
     "Empty ParameterizedTruncatedNormal RandomStandardNormal RandomUniform RandomUniformInt "
     "StatelessRandomNormal StatelessRandomNormalV2 StatelessRandomUniform "
     "StatelessRandomUniformFullInt StatelessRandomUniformInt StatelessRandomUniformIntV2 "
     "StatelessRandomUniformV2 StatelessTruncatedNormal StatelessTruncatedNormalV2 TruncatedNormal"},
    {multinomial, "Multinomial StatelessMultinomial"},
    {broadcast_args, "BroadcastArgs"},
    {broadcast_gradient_args, "BroadcastGradientArgs"},
    {placeholder, "Placeholder"},
    {placeholder_with_default, "PlaceholderWithDefault"},
    {ensure_shape, "EnsureShape"},
    {variable, "TemporaryVariable VariableV2"},
    {legacy_variable, "Variable"},
    {variable_handle, "VarHandleOp"},
    {read_variable, "ReadVariableOp"},
    {variable_shape, "VariableShape"},
    {assign, "Assign"},
    {tensor_array, "TensorArrayV2 TensorArrayV3"},
    {tensor_array_read, "TensorArrayReadV3"},
    {tensor_array_gather, "TensorArrayGatherV3"},
    {tensor_array_concat, "TensorArrayConcatV3"},
    {tensor_array_handle, "TensorArrayGradV3"},
    {list_reserve, "EmptyTensorList TensorListReserve"},
    {list_from_tensor, "TensorListFromTensor"},
    {list_item, "TensorListGetItem"},
    {list_stack, "TensorListStack"},
    {list_concat, "TensorListConcat"},
    {list_gather, "TensorListGather"},
    {list_concat_v2, "TensorListConcatV2"},
    {list_push, "TensorListPushBack"},
    {list_pop, "TensorListPopBack"},
    {list_set, "TensorListResize TensorListSetItem"},
    {list_element_shape, "TensorListElementShape"},
    {lookup, "LookupTableFind LookupTableFindV2"},
    {encode_images, "EncodePng"},
    {resize,
     "QuantizedResizeBilinear ResizeNearestNeighborGrad ResizeArea ResizeBicubic ResizeBilinear "
     "ResizeNearestNeighbor"},
    {resize_grad, "ResizeBicubicGrad ResizeBilinearGrad"},
    {crop_and_resize, "CropAndResize"},
    {non_max_suppression, "NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3"},
    {non_max_suppression_overlaps, "NonMaxSuppressionWithOverlaps"},
    {non_max_suppression_v4, "NonMaxSuppressionV4"},
    {non_max_suppression_v5, "NonMaxSuppressionV5"},
    {combined_non_max_suppression, "CombinedNonMaxSuppression"},
    {decode_image, "DecodeAndCropJpeg DecodeBmp DecodeJpeg DecodePng"},
    {decode_gif, "DecodeGif"},
    {decode_any, "DecodeImage"},
    {sample_box, "SampleDistortedBoundingBox SampleDistortedBoundingBoxV2"},
    {fft_real, "RFFT RFFT2D RFFT3D"},
    {inverse_fft_real, "IRFFT IRFFT2D IRFFT3D"},
    {mfcc, "Mfcc"},
    {spectrogram, "AudioSpectrogram"},
    {decode_wav, "DecodeWav"},
    {parse_example, "ParseExample"},
    {parse_example_v2, "ParseExampleV2"},
    {parse_single_example, "ParseSingleExample"},
    {decode_raw, "DecodeRaw"},
    {decode_csv, "DecodeCSV"},
    {string_split, "StringSplit StringSplitV2"},
    {string_join, "StringJoin"},
    {sparse_to_dense, "SparseToDense"},
    {sparse_reshape, "SparseReshape"},
    {sparse_reorder, "SparseReorder"},
    {sparse_fill_empty_rows, "SparseFillEmptyRows"},
    {sparse_slice, "SparseSlice"},
    {sparse_concat, "SparseConcat"},
    {sparse_cross, "SparseCross SparseCrossHashed SparseCrossV2"},
    {reader_read, "ReaderRead ReaderReadUpTo ReaderReadUpToV2 ReaderReadV2"},
    {ctc_greedy, "CTCGreedyDecoder"},
    {ctc_loss, "CTCLoss CTCLossV2"},
    {lstm_cell, "LSTMBlockCell"},
    {block_lstm, "BlockLSTM BlockLSTMV2"},
    {gru_cell, "GRUBlockCell"},
    {cudnn_rnn, "CudnnRNN CudnnRNNV2"},
    {pass_on, "Enter Exit LoopCond NextIteration RefEnter RefExit RefNextIteration"},
    {switch_both, "RefSwitch Switch"},
    {switch_n, "_SwitchN"},
    {merge, "Merge RefMerge"},
});

struct Row {
  std::string_view op;
  Rule rule = nullptr;
};

template <typename Use>
constexpr void each_row(Use use) {
  for (const Family& family : kFamilies) {
    for (std::string_view rest = family.ops; !rest.empty();) {
      const size_t end = std::min(rest.find(' '), rest.size());
      use(Row{rest.substr(0, end), family.rule});
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
}

constexpr size_t row_count() {
  size_t count = 0;
  each_row([&](const Row&) { ++count; });
  return count;
}

// The rows by op, put in order while compiling.
constexpr auto kRows = [] {
  std::array<Row, row_count()> rows;
  size_t at = 0;
  each_row([&](const Row& row) { rows[at++] = row; });
  std::ranges::sort(rows, {}, &Row::op);
  return rows;
}();
static_assert(std::ranges::adjacent_find(kRows, {}, &Row::op) == kRows.end(), "an op stands in two families");

}  // namespace

Rule rule_of(std::string_view op) {
  const auto row = std::ranges::lower_bound(kRows, op, {}, &Row::op);
  return row != kRows.end() && row->op == op ? row->rule : nullptr;
}

std::vector<std::string_view> ops_with_rules() {
  std::vector<std::string_view> ops;
  for (const Row& row : kRows) ops.push_back(row.op);
  return ops;
}

}  // namespace gedit::shaping
