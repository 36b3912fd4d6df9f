#include "optimize/unpack.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "optimize/rounds.h"

namespace gedit::optimizing {
namespace {

// The axis along which a Split can be an Unpack.
std::optional<int64_t> axis_of(Subject& subject, Number n) {
  Net& net = subject.net;
  const std::span<const In> data = net.data(n);
  if (net.what(n) != What::kSplit || data.size() != 2 || !net.controls(n).empty() || subject.is_kept(n) ||
      subject.is_untouched(n) || data[0].argument() || !net.is(data[0].node, OpKind::kConst) ||
      !net.inputs(data[0].node).empty())
    return std::nullopt;
  const uint32_t pieces = net.outputs(n);
  const std::optional<DType> type = type_attr(net.def(n), "T");
  // TensorFlow has no kernel that unpacks these.
  const bool unpacked = type && *type != DType::kQuint8;
  if (pieces < 2 || pieces > folding::kMostPieces || !unpacked) return std::nullopt;
  return scalar_of(net.def(data[0].node));
}

// Whether the node gives a piece of the Split and nothing else, without one of the dimensions, of size 1.
bool squeezes(const Subject& subject, Number n, Number split, int64_t axis) {
  const Net& net = subject.net;
  if (net.what(n) != What::kSqueeze || net.inputs(n).size() != 1 || subject.is_kept(n) ||
      subject.is_untouched(n) || net.device(n) != net.device(split))
    return false;
  const auto axes = find_attr(net.def(n), "squeeze_dims");
  return axes && int_list(*axes) == std::vector{axis};
}

class Unpacking {
 public:
  explicit Unpacking(Subject& subject) : subject_(subject), net_(subject.net) {}

  void run() {
    find_splits();
    if (axes_.empty()) return;
    leave_read_otherwise();
    if (axes_.empty()) return;
    read_unpacks();
    for (const auto& [split, axis] : axes_) unpack(split, axis);
  }

 private:
  void find_splits() {
    for (Number n = 0; n < net_.size(); ++n) {
      if (!net_.there(n)) continue;
      if (const std::optional<int64_t> axis = axis_of(subject_, n)) axes_.emplace(n, *axis);
    }
  }

  // What is not needed, and has a reason to go, reads nothing any more.
  void leave_read_otherwise() {
    const NodeSet needed = net_.needed_by(asked_of(subject_));
    for (Number n = 0; n < net_.size(); ++n) {
      if (!net_.there(n) || (!needed.has(NodeId{n}) && subject_.reason_of(n))) continue;
      for (const In& in : net_.inputs(n)) {
        const auto split = in.argument() ? axes_.end() : axes_.find(in.node);
        if (split == axes_.end()) continue;
        if (squeezes(subject_, n, split->first, split->second)) {
          pieces_[n] = in;
        } else {
          axes_.erase(split);
        }
      }
    }
    for (const In& in : subject_.returned) axes_.erase(in.node);
    std::erase_if(pieces_, [&](const auto& piece) { return !axes_.contains(piece.second.node); });
  }

  // Who reads, or waits for, what a Squeeze gives.
  void read_unpacks() {
    for (Number n = 0; n < net_.size(); ++n) {
      if (!net_.there(n)) continue;
      std::vector<In> inputs;
      const std::span<const In> read = net_.inputs(n);
      for (size_t i = 0; i < read.size(); ++i) {
        const auto piece = read[i].argument() ? pieces_.end() : pieces_.find(read[i].node);
        if (piece == pieces_.end()) continue;
        if (inputs.empty()) inputs.assign(read.begin(), read.end());
        inputs[i] = read[i].control() ? control_of(piece->second.node) : piece->second;
      }
      if (inputs.empty()) continue;
      const auto controls = std::ranges::find_if(inputs, &In::control);
      std::sort(controls, inputs.end(), [](In a, In b) { return a.node < b.node; });
      inputs.erase(std::unique(controls, inputs.end()), inputs.end());
      net_.set_inputs(n, inputs);
    }
    for (const auto& [squeeze, piece] : pieces_) subject_.give_reason(squeeze, {"algebra", "nodes"});
  }

  void unpack(Number split, int64_t axis) {
    NodeBuilder made(net_.name(split), "Unpack");
    made.device(net_.device(split)).type("T", *type_attr(net_.def(split), "T"));
    made.attr("axis", int_value(axis)).attr("num", int_value(net_.outputs(split)));
    subject_.give_reason(net_.data(split)[0].node, {"unneeded", "nodes"});
    net_.become(split, made.take(), {net_.data(split)[1]});
  }

  Subject& subject_;
  Net& net_;
  std::unordered_map<Number, int64_t> axes_;  // of Splits
  std::unordered_map<Number, In> pieces_;     // by Squeeze: what it will have been
};

}  // namespace

void unpack_splits(Subject& subject) {
  const auto has = [&](What what) {
    return subject.net.has_op([&](const ProofOp&, What one) { return one == what; });
  };
  if (has(What::kSplit) && has(What::kSqueeze)) Unpacking(subject).run();
}

}  // namespace gedit::optimizing
