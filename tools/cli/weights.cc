#include "cli/weights.h"

#include "base/error.h"
#include "cli/say.h"
#include "select/keys.h"
#include "weights/casting.h"

namespace gedit {

Weights read_weights(const std::string& path, bool quiet) {
  Weights weights = open_weights(path);
  for (const std::string& text : weights.warnings) {
    if (!quiet) say_warning(text);
  }
  return weights;
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
