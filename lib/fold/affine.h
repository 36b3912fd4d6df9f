// What becomes of each channel of a tensor: times a number, plus a number; computed in double from constants.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "fold/const_tensor.h"
#include "graph/graph.h"
#include "graph/names.h"

namespace gedit::folding {

// The value of an input that is computed from Consts of float or double by the ops that batch_norm.h names,
// as doubles; nothing for another, and for more than 64 nodes.
std::optional<ConstTensor> constant_in_double(const Graph& graph, const Names& names, std::string_view input);

// The Const behind an input, maybe through Identities that nothing but data comes into; kNoNode where there
// is none.
NodeId const_behind(const Graph& graph, const Names& names, std::string_view input);

// Where the channels are: of tensors of so many dimensions the one at `axis`, of that size.
struct Channels {
  size_t rank, axis;
  uint64_t number;
};

// y = scale * x + shift, by channel.
class Affine {
 public:
  explicit Affine(uint64_t channels) : scale_(channels, 1.0), shift_(channels, 0.0) {}

  // What follows what there is: both of one number or of one for each channel.
  void multiply(const std::vector<double>& by);
  void add(const std::vector<double>& what, double sign = 1.0);
  bool scales() const { return scales_; }
  bool shifts() const { return shifts_; }
  const std::vector<double>& scale() const { return scale_; }
  const std::vector<double>& shift() const { return shift_; }
  bool finite() const;

 private:
  std::vector<double> scale_, shift_;
  bool scales_ = false, shifts_ = false;
};

// The numbers of a constant that is the same for all of a channel, one or one for each channel; nothing where
// it is not, or where a tensor that it is added to would become larger.
std::optional<std::vector<double>> by_channel(const ConstTensor& doubles, const Channels& channels);

}  // namespace gedit::folding
