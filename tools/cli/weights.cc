#include "cli/weights.h"

#include <charconv>

#include "base/error.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "select/keys.h"
#include "weights/casting.h"

namespace gedit {
namespace {

// `SELECTOR=N` or `SELECTOR=N,AXIS`.
Partition parse_partition(const std::string& text) {
  const size_t equals = text.rfind('=');
  Partition partition;
  const char* end = text.data() + text.size();
  const char* begin = text.data() + (equals == std::string::npos ? text.size() : equals + 1);
  auto read = std::from_chars(begin, end, partition.count);
  bool good = read.ec == std::errc() && equals != 0 && partition.count >= 2;
  if (good && read.ptr != end) {
    good = *read.ptr == ',';
    if (good) {
      read = std::from_chars(read.ptr + 1, end, partition.axis);
      good = read.ec == std::errc() && read.ptr == end;
    }
  }
  if (!good)
    throw misused(text, "is not SELECTOR=N or SELECTOR=N,AXIS, N from 2 on").of(quoted("--partition", text));
  partition.selector = text.substr(0, equals);
  return partition;
}

}  // namespace

Weights read_weights(const std::string& path, bool quiet, bool skip) {
  Weights weights = open_weights(path, skip);
  for (const std::string& text : weights.warnings) {
    if (!quiet) say_warning(text);
  }
  return weights;
}

Overflowed Overflows::noting() {
  return
      [this](const std::string& subject, uint64_t count) { texts_.push_back(overflow_text(subject, count)); };
}

void Overflows::tell(bool quiet) const {
  for (const std::string& text : texts_) {
    if (!quiet) say_warning(text);
  }
}

Checkpoint store_told(std::vector<NewTensor> tensors, const std::string& output, StoreOptions store,
                      bool quiet) {
  Overflows overflows;
  store.overflowed = overflows.noting();
  Checkpoint stored = [&] {
    const Progress writing("writing values to " + output, quiet);
    return store_tensors(std::move(tensors), output, store);
  }();
  overflows.tell(quiet);
  return stored;
}

std::vector<bool> require_weights(const Weights& weights, const std::string& selector) {
  Checkpoint keys;
  keys.prefix = weights.path;
  for (const Weight& weight : weights.weights) {
    Tensor& tensor = keys.tensors.emplace_back();
    tensor.name = weight.name;
    tensor.dtype = weight.dtype;
    tensor.shape = weight.shape;
    tensor.place.size = weight.values ? weight.values->size() : 0;
  }
  return require_tensors(keys, selector);
}

void keep_weights(Weights& weights, const std::vector<bool>& hits) {
  std::vector<Weight> kept;
  for (size_t i = 0; i < hits.size(); ++i) {
    if (hits[i]) kept.push_back(std::move(weights.weights[i]));
  }
  weights.weights = std::move(kept);
}

void PartOption::setup(CommandLine& line) {
  line.add_option("--part", text_, "Do the I-th of N ranges of equal bytes alone")->type_name("I/N");
}

void PartitionOption::setup(CommandLine& line, const std::string& about) {
  line.add_option("--partition", texts_, about)->type_name("SELECTOR=N[,AXIS]")->one_each();
}

std::vector<Partition> PartitionOption::partitions() const {
  std::vector<Partition> partitions;
  for (const std::string& text : texts_) partitions.push_back(parse_partition(text));
  return partitions;
}

DType floating_type(const std::string& option, const std::string& text) {
  const auto type = parse_dtype(text == "half"     ? "float16"
                                : text == "float"  ? "float32"
                                : text == "double" ? "float64"
                                                   : text);
  if (!type || !is_floating(*type))
    throw misused(text, "is no floating point type")
        .of(quoted(option, text))
        .hint("float16, bfloat16, float32 or float64");
  return *type;
}

uint64_t bytes_of(const Weights& weights) {
  uint64_t bytes = 0;
  for (const Weight& weight : weights.weights) bytes += weight.values ? weight.values->size() : 0;
  return bytes;
}

}  // namespace gedit
