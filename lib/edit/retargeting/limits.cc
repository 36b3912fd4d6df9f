#include "edit/retargeting/limits.h"

#include <algorithm>

namespace gedit {
namespace {

std::string dilated(Site& site) {
  const std::vector<int64_t> dilations = site.integers("dilations");
  const bool all = std::ranges::all_of(dilations, [](int64_t step) { return step == 1; });
  return all ? "" : "its dilations are not 1";
}

bool of_one_image(const Site& site) {
  const Shape shape = site.inputs.empty() ? Shape() : site.shape(0).shape;
  return shape && !shape->empty() && shape->front() == 1;
}

bool counts_batch(const Site& site) { return site.flag("include_batch_in_index", false); }

std::string argmax_read(Site& site) {
  return counts_batch(site) || of_one_image(site) || !site.read(1) ? "" : "that is read";
}

std::string argmax_taken(Site& site) {
  return counts_batch(site) || of_one_image(site) ? "" : "those here are of one image each";
}

std::string of_two_sizes(Site& site) {
  if (site.inputs.empty()) return {};
  const Shape shape = site.shape(0).shape;
  return shape && *shape == std::vector<int64_t>{2} ? "it has two" : "";
}

std::string of_other_rank(Site& site) {
  const Shape shape = site.inputs.empty() ? Shape() : site.shape(0).shape;
  return !shape || shape->size() == 2 ? "" : "its input has " + std::to_string(shape->size());
}

std::string broadcasts(Site& site) {
  if (site.inputs.size() < 2) return {};
  const Shape a = site.shape(0).shape, b = site.shape(1).shape;
  if (!a || !b || a->size() != b->size()) return {};
  for (size_t i = 0; i < a->size(); ++i) {
    if ((*a)[i] >= 0 && (*b)[i] >= 0 && (*a)[i] != (*b)[i]) return "its shapes differ";
  }
  return {};
}

constexpr std::string_view kNoDilations = "does not look at dilations on CPUs";
constexpr std::string_view kHalfAway = "rounds halves away from zero";
constexpr std::string_view kPaddings = "Tpaddings", kIndices = "Tidx";

// The table of docs/rules.md#retarget-limits.
constexpr LimitRow kLimits[] = {
    {"Conv2DBackpropInput", "2.3", "takes input_sizes of four dimensions alone", of_two_sizes, true},
    {"Conv3D", "1.9", kNoDilations, dilated},
    {"Conv3DBackpropFilterV2", "1.9", kNoDilations, dilated},
    {"Conv3DBackpropInputV2", "1.9", kNoDilations, dilated},
    {"DepthwiseConv2dNative", "2.9", kNoDilations, dilated},
    {"LogSoftmax", "1.11", "takes two dimensions alone", of_other_rank, true},
    {"MaxPoolGradWithArgmax", "1.14", "counts the batch into indices", argmax_taken, true},
    {"MaxPoolWithArgmax", "1.14", "counts the batch into its output 1", argmax_read, true},
    {.op = "MirrorPad", .since = "1.5", .they = {}, .cast = kPaddings},
    {.op = "MirrorPadGrad", .since = "1.5", .they = {}, .cast = kPaddings},
    {.op = "Pad", .since = "1.12", .they = {}, .cast = kPaddings},
    {.op = "PadV2", .since = "1.12", .they = {}, .cast = kPaddings},
    {"QuantizeAndDequantizeV2", "1.11", kHalfAway},
    {"QuantizeAndDequantizeV3", "1.11", kHalfAway},
    {"Softmax", "1.11", "takes two dimensions alone", of_other_rank, true},
    {"SoftmaxCrossEntropyWithLogits", "1.8", "does not broadcast", broadcasts, true},
    {.op = "SparseSegmentMean", .since = "2.3", .they = {}, .cast = kIndices},
    {.op = "SparseSegmentMeanGrad", .since = "2.3", .they = {}, .cast = kIndices},
    {.op = "SparseSegmentMeanWithNumSegments", .since = "2.3", .they = {}, .cast = kIndices},
    {.op = "SparseSegmentSqrtN", .since = "2.3", .they = {}, .cast = kIndices},
    {.op = "SparseSegmentSqrtNGrad", .since = "2.3", .they = {}, .cast = kIndices},
    {.op = "SparseSegmentSqrtNWithNumSegments", .since = "2.3", .they = {}, .cast = kIndices},
    {.op = "SparseSegmentSum", .since = "2.3", .they = {}, .cast = kIndices},
    {.op = "SparseSegmentSumWithNumSegments", .since = "2.3", .they = {}, .cast = kIndices},
    {"StatelessRandomNormalV2", "2.7", "names Philox as its algorithm", limit_draw_algorithm},
    {"StatelessRandomUniformFullIntV2", "2.7", "names Philox as its algorithm", limit_draw_algorithm},
    {"StatelessRandomUniformIntV2", "2.7", "names Philox as its algorithm", limit_draw_algorithm},
    {"StatelessRandomUniformV2", "2.7", "names Philox as its algorithm", limit_draw_algorithm},
    {"StatelessTruncatedNormalV2", "2.7", "names Philox as its algorithm", limit_draw_algorithm},
    {"TensorListFromTensor", "1.13", "states the sizes of its tensor", limit_list_shape, true},
    {"TensorListFromTensor", "1.11", "takes an element_shape of some rank alone", limit_list_rank, true},
    {"TensorListReserve", "1.12", "makes a list of no elements", limit_list_made},
    {"WriteFile", "1.15", "may be left out, as it is not stateful"},
    {"TensorListStack", "1.13", "wants an element_shape of known sizes of its list", limit_list_stack, true},
};

constexpr std::string_view kTrue = "\x28\x01";  // AttrValue.b

constexpr struct {
  std::string_view op, key, value;
} kValuesBefore[] = {
    {"MaxPoolGradWithArgmax", "include_batch_in_index", kTrue},
    {"MaxPoolWithArgmax", "include_batch_in_index", kTrue},
};

constexpr std::string_view kLowering = "_lower_using_switch_merge";

constexpr SpoilingRow kSpoiling[] = {
    {"Case", kLowering, "1.15"},
    {"StatelessIf", kLowering, "1.15"},
    {"StatelessWhile", kLowering, "1.15"},
    {"While", kLowering, "1.13", true},
};

// Of the rows those of the op that are about releases as old as this one.
template <typename Row, size_t kSize>
std::vector<const Row*> rows_of(const Row (&rows)[kSize], std::string_view op, ReleaseNumber release,
                                ReleaseNumber reference) {
  std::vector<const Row*> found;
  for (const Row& row : rows) {
    if (row.op != op) continue;
    const ReleaseNumber since = *OpHistory::get().find(row.since);
    if (release < since && since <= reference) found.push_back(&row);
  }
  return found;
}

}  // namespace

std::vector<const LimitRow*> limits_of(std::string_view op, ReleaseNumber release, ReleaseNumber reference) {
  return rows_of(kLimits, op, release, reference);
}

std::vector<const SpoilingRow*> spoiling_of(std::string_view op, ReleaseNumber release) {
  return rows_of(kSpoiling, op, release, OpHistory::get().latest());
}

std::string_view value_before(std::string_view op, std::string_view key) {
  for (const auto& row : kValuesBefore) {
    if (row.op == op && row.key == key) return row.value;
  }
  return {};
}

}  // namespace gedit
