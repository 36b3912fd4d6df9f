#include "optimize/fix.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "graph/frames.h"
#include "graph/wiring.h"
#include "optimize/constant.h"
#include "optimize/whens.h"
#include "select/tensors.h"
#include "shape/infer.h"

namespace gedit::optimizing {
namespace {

constexpr uint32_t kTypeOfTensor = 1, kShapeOfTensor = 2;  // of a TensorProto

class Fixing {
 public:
  Fixing(Model& model, Registry& ops, Subject& subject, Classes& classes)
      : model_(model), ops_(ops), subject_(subject), net_(subject.net), classes_(classes) {}

  void fix(const std::string& text) {
    const size_t equal = text.find('=');
    if (equal == std::string::npos || equal == 0) throw misused(text, "is no T=VALUE");
    const std::string tensor = text.substr(0, equal);
    const Names names(model_.graph());
    const TensorRef found = find_tensor(model_, names, ops_, tensor);
    const In in{index_of(found.node), found.index};
    refuse_state(in);
    const DType type = net_.type(in);
    std::string proto;
    try {
      proto = given_tensor(type, text.substr(equal + 1));
    } catch (const Error& error) {
      throw error.of(quoted("tensor", tensor)).hint(type == DType::kBool ? "true or false" : "");
    }
    const std::string name = subject_.plain_text(in);
    const auto before = std::ranges::find(fixed_.given, name, &GivenValue::tensor);
    if (before == fixed_.given.end()) return put(in, std::move(proto));
    if (before->tensor_proto != proto)
      throw Error(Cause::kUsage, "is to have two values").of(quoted("tensor", name));
  }

  void fix_all() {
    readers_.assign(net_.size(), {});
    for (Number n = 0; n < net_.size(); ++n) {
      if (!net_.there(n)) continue;
      uint32_t slot = 0;
      for (const In& in : net_.inputs(n)) {
        if (!in.argument()) readers_[in.node].emplace_back(n, slot);
        ++slot;
      }
    }
    for (Number n = 0; n < net_.size(); ++n) {
      if (net_.there(n) && net_.is(n, OpKind::kPlaceholder)) fix_by_use(n);
    }
  }

  Fixed take() { return std::move(fixed_); }

 private:
  void put(In in, std::string proto) {
    check_value(in, proto);
    check_shape(in, proto);
    const bool source = net_.is(in.node, OpKind::kPlaceholder);
    if (!source) check_place(in);
    const std::string name(net_.name(in.node)), text = tensor_text(name, in.index);
    const std::string_view def = net_.def(in.node);
    const auto type = static_cast<DType>(static_cast<int32_t>(last_varint(proto, 1)));
    if (net_.outputs(in.node) == 1) {
      NodeBuilder made(name, "Const");
      made.device(node_device(def)).type("dtype", type).attr("value", tensor_value(proto));
      std::vector<In> inputs(net_.controls(in.node).begin(), net_.controls(in.node).end());
      net_.become(in.node, made.take(), inputs);
      if (subject_.is_untouched(in.node)) subject_.untouched.remove(NodeId{in.node});
    } else {
      const std::string device(node_device(def));
      const Number made =
          net_.append(name + "_" + std::to_string(in.index), "Const",
                      {{"dtype", type_value(type)}, {"value", tensor_value(proto)}}, device, {});
      redirect(in, {made, 0});
    }
    fixed_.tensors.push_back(text);
    fixed_.given.push_back({text, std::move(proto)});
  }

  void redirect(In from, In to) {
    for (Number n = 0; n < net_.size(); ++n) {
      if (!net_.there(n) || subject_.is_untouched(n)) continue;
      std::vector<In> inputs(net_.inputs(n).begin(), net_.inputs(n).end());
      if (std::ranges::find(inputs, from) == inputs.end()) continue;
      std::ranges::replace(inputs, from, to);
      net_.set_inputs(n, inputs);
    }
  }

  // What is written later on, and by its place, is no value.
  void refuse_state(In in) {
    const DType type = net_.type(in);
    const bool variable = net_.is(in.node, OpKind::kVariable);
    const bool handle = type == DType::kResource || type == DType::kVariant;
    if (!variable && !handle && type == base_type(type)) return;
    throw refused(std::string("is ") +
                  (variable ? "a variable"
                   : handle ? "a handle"
                            : "a reference to a variable") +
                  ", which no constant stands for")
        .of(quoted("tensor", subject_.plain_text(in)))
        .hint("gedit freeze, or fix the tensor that reads it");
  }

  void check_value(In in, std::string_view proto) {
    const auto refuse = [&](const std::string& why) {
      return refused(why).of(quoted("tensor", subject_.plain_text(in))).hint("tensor(DTYPE [SHAPE], ...)");
    };
    const auto given = static_cast<DType>(static_cast<int32_t>(last_varint(proto, kTypeOfTensor)));
    const DType type = net_.type(in);
    if (type != DType::kInvalid && type != given)
      throw refuse("is of " + dtype_name(type) + ", and the value of " + dtype_name(given));
    if (const std::string fault = fault_of_value(proto); !fault.empty())
      throw refuse("the value is none: " + fault);
  }

  Shape known_shape(In in) {
    if (net_.is(in.node, OpKind::kPlaceholder)) {
      const Shape stated = output_shape(net_.def(in.node), 0);
      const bool unknown =
          stated && stated->empty() && says_scalar_of_unknown(model_.graph(), NodeId{in.node});
      return unknown ? std::nullopt : stated;
    }
    if (!shapes_) {
      InferRequest infer;
      infer.file_shapes = false;
      shapes_.emplace(model_.graph(), ops_, infer);
    }
    return shapes_->main().shape(NodeId{in.node}, in.index);
  }

  void check_shape(In in, std::string_view proto) {
    const Shape known = known_shape(in);
    const Shape given = parse_shape_proto(last_bytes(proto, kShapeOfTensor));
    if (!known || compatible(known, given)) return;
    throw refused("is of shape " + shape_text(known) + ", and the value of shape " + shape_text(given))
        .of(quoted("tensor", subject_.plain_text(in)))
        .hint("tensor(DTYPE [SHAPE], ...)");
  }

  // A Const runs at once and always.
  void check_place(In in) const {
    const Flow flow(net_, subject_.effects, {in.node}, subject_.untouched);
    Whens whens(net_, flow, classes_, true);
    for (const Number n : flow.order()) whens.look(n);
    if (whens.of(in) != kAlways || whens.frame(in.node) != 0)
      throw refused("is not always there: it lies in a cond or a loop")
          .of(quoted("tensor", net_.name(in.node)));
  }

  // A placeholder that only says whether the model trains, or what dropout keeps.
  void fix_by_use(Number n) {
    const std::string_view name = net_.name(n);
    const std::string_view last = name.substr(name.rfind('/') + 1);
    const auto called = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
    const DType type = base_type(net_.type({n, 0}));
    if (readers_[n].empty()) return;
    if (type == DType::kBool) {
      const bool training = called("is_training") || called("training") || called("learning_phase") ||
                            last.starts_with("phase") || last.ends_with("phase");
      if (!training) return;
      if (const std::optional<Number> other = beside_decisions(n)) return leave(n, *other);
      put_and_tell(n, given_tensor(type, "false"), "false");
      return;
    }
    if (type != DType::kFloat && type != DType::kHalf && type != DType::kDouble) return;
    const bool keep = called("keep"), rate = called("rate") || called("drop");
    if (!keep && !rate) return;
    const auto [drops, other] = beside_dropout(n);
    if (!drops) return;
    if (other) return leave(n, *other);
    const std::string value = keep ? "1.0" : "0.0";
    put_and_tell(n, given_tensor(type, value), value);
  }

  void put_and_tell(Number n, std::string proto, const std::string& value) {
    fixed_.notes.push_back("--fix auto: " + std::string(net_.name(n)) + "=" + value);
    put({n, 0}, std::move(proto));
  }

  void leave(Number n, Number reader) {
    fixed_.notes.push_back("--fix auto: " + printable(net_.name(n)) + " is left, since '" +
                           printable(net_.name(reader)) + "' (" + printable(net_.op(reader).name) +
                           ") reads it, too");
  }

  // What is given on as it is, to all iterations of a loop, too.
  bool gives_on(Number reader, uint32_t slot) const {
    return net_.what(reader) == What::kIdentity || (net_.is(reader, OpKind::kSwitch) && slot == 0) ||
           (net_.is(reader, OpKind::kEnter) && is_constant_enter(net_.def(reader)));
  }

  // The first of its readers that asks it for something else than a decision.
  std::optional<Number> beside_decisions(Number n) const {
    std::vector<Number> open{n}, seen{n};
    while (!open.empty()) {
      const Number at = open.back();
      open.pop_back();
      for (const auto& [reader, slot] : readers_[at]) {
        const ProofOp& op = net_.op(reader);
        const What what = net_.what(reader);
        if (net_.inputs(reader)[slot].control()) continue;
        if (op.kinds.has(OpKind::kSwitch) && slot == 1) continue;
        if (op.kinds.has(OpKind::kIf) && slot == 0) continue;
        if ((what == What::kSelect || what == What::kSelectV2) && slot == 0) continue;
        const bool passes = gives_on(reader, slot) || what == What::kNot || what == What::kAnd ||
                            what == What::kOr || op.kinds.has(OpKind::kMerge);
        if (!passes) return reader;
        if (std::ranges::find(seen, reader) != seen.end()) continue;
        if (seen.size() > 4096) return reader;
        seen.push_back(reader);
        open.push_back(reader);
      }
    }
    return std::nullopt;
  }

  // Whether it is a scalar that is held against random numbers, and the first reader for which it does not
  // only scale beside.
  std::pair<bool, std::optional<Number>> beside_dropout(Number n) const {
    const Shape shape = output_shape(net_.def(n), 0);
    if (shape && !shape->empty()) return {};
    bool random = false;
    std::optional<Number> other;
    std::vector<Number> open{n}, seen{n};
    while (!open.empty()) {
      const Number at = open.back();
      open.pop_back();
      for (const auto& [reader, slot] : readers_[at]) {
        const What what = net_.what(reader);
        const std::span<const In> data = net_.data(reader);
        if (net_.inputs(reader)[slot].control()) continue;
        const bool passes = gives_on(reader, slot) ||
                            (what == What::kSubtract && slot == 1 && is_const(data[0])) ||
                            (what == What::kDivide && slot == 1 && is_const(data[0]));
        const bool compares = what == What::kAdd || (what >= What::kGreaterEqual && what <= What::kLess);
        if (compares && data.size() == 2 && is_random(data[1 - slot])) {
          random = true;
        } else if (passes) {
          if (std::ranges::find(seen, reader) != seen.end()) continue;
          if (seen.size() > 4096) return {random, reader};
          seen.push_back(reader);
          open.push_back(reader);
        } else if (!(what == What::kDivide && slot == 1) && what != What::kMultiply && !other) {
          other = reader;
        }
      }
    }
    return {random, other};
  }
  bool is_const(In in) const { return !in.argument() && net_.is(in.node, OpKind::kConst); }
  bool is_random(In in) const {
    for (int steps = 0; steps < 4 && !in.argument(); ++steps) {
      if (net_.op(in.node).conduct == Conduct::kRandom) return true;
      if (net_.data(in.node).empty()) return false;
      in = net_.data(in.node)[0];
    }
    return false;
  }

  Model& model_;
  Registry& ops_;
  Subject& subject_;
  Net& net_;
  Classes& classes_;
  std::vector<std::vector<std::pair<Number, uint32_t>>> readers_;
  std::optional<Inference> shapes_;  // of the graph as it was
  Fixed fixed_;
};

}  // namespace

Fixed fix(Model& model, Registry& ops, Subject& subject, Classes& classes,
          const std::vector<std::string>& fixes) {
  Fixing fixing(model, ops, subject, classes);
  for (const std::string& text : fixes) {
    if (text != "auto") fixing.fix(text);
  }
  if (std::ranges::find(fixes, "auto") != fixes.end()) fixing.fix_all();
  return fixing.take();
}

}  // namespace gedit::optimizing
