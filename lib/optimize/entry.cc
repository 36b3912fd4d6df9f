#include "optimize/entry.h"

#include <functional>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "edit/functions/function_def.h"
#include "graph/name_attr_list.h"

namespace gedit::optimizing {
namespace {

using Constant = std::optional<folding::ConstTensor>;

constexpr uint32_t kMostNodes = 256;  // a condition asks for few

// Tensors of a net as they are where every loop of version 1 around them is in its first iteration.
class Entry {
 public:
  // `argument`: by number, in a function's body.
  Entry(Net& net, folding::NodeFolder& folder, std::function<Constant(uint32_t)> argument)
      : net_(net), folder_(folder), argument_(std::move(argument)) {}

  bool is_false(In in) {
    const Constant value = of(in);
    return value && value->dtype() == DType::kBool && value->rank() == 0 && !value->as<bool>(0);
  }

 private:
  Constant of(In in) {
    if (in.argument()) return argument_(in.index);
    if (in.index != 0) return std::nullopt;
    const auto [found, fresh] = known_.try_emplace(in.node);
    if (fresh && ++nodes_ <= kMostNodes) {
      Constant value = computed(in.node);
      return known_[in.node] = std::move(value);
    }
    return found->second;
  }

  Constant computed(Number n) {
    const ProofOp& op = net_.op(n);
    const std::span<const In> data = net_.data(n);
    if (op.kinds.has(OpKind::kConst)) return folding::const_value(net_.def(n));
    if (data.empty() || op.gives_references) return std::nullopt;
    if (op.kinds.has(OpKind::kMerge)) return entered(n);
    if (data.size() == 1 && (op.kinds.has(OpKind::kEnter) || op.conduct == Conduct::kPasses))
      return of(data[0]);
    if (!folding::is_foldable(op.name) || net_.outputs(n) != 1) return std::nullopt;
    std::vector<folding::ConstTensor> values;
    for (const In& in : data) {
      Constant value = of(in);
      if (!value) return std::nullopt;
      values.push_back(*std::move(value));
    }
    folding::FoldOutcome outcome = folder_.fold(net_.def(n), values);
    return outcome.outputs.size() == 1 ? Constant(std::move(outcome.outputs[0])) : std::nullopt;
  }

  // What a loop's variable begins with.
  Constant entered(Number merge) {
    std::optional<In> from;
    bool goes_back = false;
    for (const In& in : net_.data(merge)) {
      if (is_back_edge(net_, merge, in)) {
        goes_back = true;
      } else if (from) {
        return std::nullopt;
      } else {
        from = in;
      }
    }
    return from && goes_back ? of(*from) : std::nullopt;
  }

  Net& net_;
  folding::NodeFolder& folder_;
  std::function<Constant(uint32_t)> argument_;
  std::unordered_map<Number, Constant> known_;
  uint32_t nodes_ = 0;
};

// The only thing that the function returns, for the arguments that the While begins with.
bool function_is_false(const View& view, Number n, std::string_view name) {
  Function* const function = view.subject.library == nullptr ? nullptr : view.subject.library->find(name);
  if (function == nullptr || function->body.size() > kMostNodes || view.subject.effects.of_function(name))
    return false;
  Graph body = function->body;  // of which nothing is stored
  body.decode();
  FunctionDef def(body);
  const std::span<const In> data = view.net.data(n);
  if (def.argument_count() != data.size() || def.output_count() != 1) return false;
  try {
    Net net(body, view.net.ops(), view.net.labels());
    Entry entry(net, view.subject.folder, [&](uint32_t number) -> Constant {
      const Number from = number < data.size() ? view.const_of(data[number]) : In::kArgument;
      return from == In::kArgument ? std::nullopt : folding::const_value(view.net.def(from));
    });
    bool is_false = false;
    def.map_returns([&](std::string_view, std::string_view source) {
      const std::optional<In> in = net.find(source);
      is_false = in && !in->control() && entry.is_false(*in);
      return std::string(source);
    });
    return is_false;
  } catch (const Error&) {
    return false;  // a body that is not understood
  }
}

}  // namespace

bool ends_at_once(const View& view, Number n) {
  if (view.net.is(n, OpKind::kWhile)) {
    const auto cond = find_attr(view.net.def(n), "cond");
    return cond && function_is_false(view, n, function_in(*cond));
  }
  const std::span<const In> data = view.net.data(n);
  if (data.size() != 1 || data[0].argument()) return false;
  return Entry(view.net, view.subject.folder, [](uint32_t) { return Constant(); }).is_false(data[0]);
}

}  // namespace gedit::optimizing
