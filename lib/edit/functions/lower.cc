// If, Case and While as version 1 of control flow has them (docs/rules.md#lowered-control-flow).
#include <algorithm>
#include <optional>

#include "edit/functions/call_attributes.h"
#include "edit/functions/call_site.h"
#include "graph/name_attr_list.h"
#include "graph/tensor_layout.h"
#include "graph/types.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr int64_t kParallelIterations = 10;  // where While does not say

// The functions that an attribute names, each as an AttrValue of its own.
std::vector<std::string> functions_of(std::string_view node_def, std::string_view key) {
  std::vector<std::string> found;
  const auto value = find_attr(node_def, key);
  if (!value) return found;
  each_name_attr_list(*value, [&](std::string_view list) {
    found.push_back(bytes_field(attr_field::kFunc, std::string(list)));
  });
  return found;
}

class Lowering {
 public:
  Lowering(InlineState& state, const CallSite& site) : state_(state), site_(site), place_(state, site) {}

  std::string cond() {
    const bool two = is(node_op(place_.node_def), OpKind::kIf);
    std::vector<std::string> branches;
    for (const char* key : {"else_branch", "then_branch", "branches"}) {
      if (two == (std::string_view(key) == "branches")) continue;
      for (std::string& one : functions_of(place_.node_def, key)) branches.push_back(std::move(one));
    }
    if (place_.inputs.empty() || branches.empty() || (two && branches.size() != 2))
      return "it does not name its branches";
    const std::vector<DType> in = types("Tin"), out = types("Tout");
    if (std::string why = look_at(branches, in, "Tin", out, "Tout"); !why.empty()) return why;
    if (in.size() + 1 != place_.inputs.size()) return "its inputs are not what Tin says";
    const DType type = two ? type_attr(place_.node_def, "Tcond").value_or(DType::kInvalid) : DType::kInt32;
    std::vector<bool> awaited = awaited_inputs();
    awaited[0] = true;
    place_.guard(effects_, awaited);
    std::string predicate = place_.inputs[0];
    if (type != DType::kBool && two) {
      predicate = text(place_.add("pred", "ToBool", {predicate}, waits(), {{"T", type_value(type)}}));
    } else if (!place_.tie.empty()) {
      predicate = text(place_.add("pred", "Identity", {predicate}, waits(), {{"T", type_value(type)}}));
    }
    // By branch: the predicate, and which side of its Switches the branch stands on.
    std::vector<std::pair<std::string, bool>> sides;
    if (two) {
      sides = {{predicate, false}, {predicate, true}};
    } else {
      for (std::string& one : choices(predicate, branches.size())) sides.emplace_back(std::move(one), true);
    }
    std::vector<ResultTensors> results(out.size());
    ResultTensors done;
    std::vector<std::vector<std::string>> switches(two ? 1 : sides.size());
    std::vector<std::string> pivots(switches.size());
    for (size_t b = 0; b < sides.size(); ++b) {
      const size_t set = two ? 0 : b;
      const auto& [by, side] = sides[b];
      if (pivots[set].empty()) {
        pivots[set] = switched(by, DType::kBool, by);
        for (size_t k = 0; k < in.size(); ++k)
          switches[set].push_back(switched(place_.inputs[k + 1], in[k], by));
      }
      const std::string pivot = place_.add("pivot", "Identity", {side_of(pivots[set], side)}, {},
                                           {{"T", type_value(DType::kBool)}});
      const std::vector<bool> reads = read_arguments(branches[b], in.size());
      ResultTensors arguments;
      for (size_t k = 0; k < in.size(); ++k)
        arguments.emplace_back(handed(side_of(switches[set][k], side), in[k], reads[k]), in[k]);
      const std::string word = two ? (side ? "then" : "else") : "branch";
      const std::string call = this->call(word, branches[b], arguments, out, pivot);
      for (size_t k = 0; k < out.size(); ++k) results[k].emplace_back(output_of(call, k), out[k]);
      if (!effects_) continue;
      hold(call);
      done.emplace_back(text(place_.add("ran", "Identity", {side_of(pivots[set], side)}, {call},
                                        {{"T", type_value(DType::kBool)}})),
                        DType::kBool);
    }
    ResultTensors merged_results;
    for (const ResultTensors& one : results) merged_results.emplace_back(merged(one), one[0].second);
    std::vector<std::string> waits_for;
    if (effects_) {
      waits_for.push_back(merged_name(done));
    } else if (out.empty() && !place_.tie.empty()) {
      waits_for.push_back(place_.tie);
    }
    place_.settle(merged_results, waits_for, held() || effects_);
    return {};
  }

  std::string loop() {
    std::vector<std::string> functions = functions_of(place_.node_def, "cond");
    for (std::string& one : functions_of(place_.node_def, "body")) functions.push_back(std::move(one));
    if (functions.size() != 2) return "it does not name its cond and body";
    const std::vector<DType> in = types("T");
    if (in.size() != place_.inputs.size() || in.empty()) return "its inputs are not what T says";
    if (std::string why = look_at({functions[0]}, in, "T", {DType::kBool}, "a loop"); !why.empty())
      return why;
    if (std::string why = look_at({functions[1]}, in, "T", in, "T"); !why.empty()) return why;
    place_.guard(effects_, awaited_inputs());
    const std::string frame = string_value(state_.graph.free_frame(call_scope(place_.name)));
    const int64_t parallel = int_attr(place_.node_def, "parallel_iterations").value_or(kParallelIterations);
    const size_t count = in.size();
    // The names of what closes the loop are known before it is there.
    std::vector<std::string> merges, next;
    for (size_t k = 0; k < count; ++k)
      next.push_back(state_.graph.free_name(call_scope(place_.name) + "/next"));
    ResultTensors variables;
    for (size_t k = 0; k < count; ++k) {
      const std::string enter = place_.add("enter", "Enter", {place_.inputs[k]}, waits(),
                                           {{"T", type_value(in[k])},
                                            {"frame_name", frame},
                                            {"is_constant", bool_value(false)},
                                            {"parallel_iterations", int_value(parallel)}});
      merges.push_back(place_.add("merge", "Merge", {text(enter), text(next[k])}, {},
                                  {{"N", int_value(2)}, {"T", type_value(in[k])}}));
      variables.emplace_back(text(merges[k]), in[k]);
    }
    const std::string test_call = call("cond", functions[0], variables, {DType::kBool}, merges[0]);
    const std::string go_on = place_.add("loop_cond", "LoopCond", {output_of(test_call, 0)}, {}, {});
    std::vector<std::string> switches;
    for (size_t k = 0; k < count; ++k) switches.push_back(switched(text(merges[k]), in[k], text(go_on)));
    const std::string pivot =
        place_.add("pivot", "Identity", {side_of(switches[0], true)}, {}, {{"T", type_value(in[0])}});
    const std::vector<bool> reads = read_arguments(functions[1], count);
    ResultTensors arguments{{text(pivot), in[0]}};
    for (size_t k = 1; k < count; ++k)
      arguments.emplace_back(handed(side_of(switches[k], true), in[k], reads[k]), in[k]);
    const std::string body_call = call("body", functions[1], arguments, in, pivot);
    ResultTensors results;
    for (size_t k = 0; k < count; ++k) {
      NodeBuilder builder(next[k], "NextIteration");
      builder.input(output_of(body_call, k)).device(place_.device).type("T", in[k]);
      state_.graph.add(builder.take());
      results.emplace_back(
          text(place_.add("exit", "Exit", {side_of(switches[k], false)}, {}, {{"T", type_value(in[k])}})),
          in[k]);
    }
    place_.settle(results, {}, held() || (effects_ && count > 1));
    return {};
  }

 private:
  std::string text(const std::string& node) const { return state_.graph.text(node); }
  std::string output_of(const std::string& call, size_t k) const {
    return state_.graph.text(call, "output", static_cast<uint32_t>(k), static_cast<uint32_t>(k));
  }
  std::string side_of(const std::string& node, bool side) const {
    return state_.graph.text(node, side ? "output_true" : "output_false", 0, side ? 1 : 0);
  }
  std::vector<DType> types(std::string_view key) const {
    return type_list(find_attr(place_.node_def, key).value_or(""));
  }
  std::vector<std::string> waits() const {
    return place_.tie.empty() ? std::vector<std::string>() : std::vector<std::string>{place_.tie};
  }
  bool held() const { return site_.held || state_.sites[state_.site_of.at(index_of(site_.id))].held; }

  // What TensorFlow lowers itself, before it leaves out what nobody fetches, waits for what it reads alone
  // (docs/tensorflow.md#functions-at-run-time).
  std::vector<bool> awaited_inputs() const {
    return std::vector<bool>(place_.inputs.size(), lowered_at_run_time());
  }
  bool lowered_at_run_time() const {
    const auto lowers = find_attr(place_.node_def, "_lower_using_switch_merge");
    return lowers && last_varint(*lowers, attr_field::kBool) != 0;
  }

  // Functions that take `in` and give `out`, as the node says, or why they are none.
  std::string look_at(const std::vector<std::string>& functions, const std::vector<DType>& in,
                      std::string_view in_attr, const std::vector<DType>& out, std::string_view out_attr) {
    for (const std::string& one : functions) {
      const CalledFunction* function = state_.functions.find(function_in(one));
      if (function == nullptr) return "there is no function " + printable(function_in(one));
      effects_ = effects_ || function->has_effects;
      NodeBuilder call("", "PartitionedCall");
      call.attr("f", one);
      const std::string attrs = attributes_of_call(call.take());
      std::vector<DType> types;
      std::string why = result_types(*function, attrs, types);
      if (why.empty()) why = differing_types("results", out_attr, types, out);
      if (why.empty() && !input_types(function->op, attrs, types))
        why = "what function " + printable(function->name) + " takes is not told";
      if (why.empty()) why = differing_types("arguments", in_attr, types, in);
      if (!why.empty()) return why;
    }
    return {};
  }

  // Which of the tensors that it is given a function reads.
  std::vector<bool> read_arguments(const std::string& function, size_t count) {
    const CalledFunction& target = *state_.functions.find(function_in(function));
    std::vector<bool> reads(count, target.op.inputs.size() != count);  // lists of them: all
    for (size_t k = 0; k < count && k < target.op.inputs.size(); ++k)
      reads[k] = reads[k] || target.reads.contains(target.op.inputs[k].name);
    return reads;
  }

  // A side of a Switch as a branch reads it: behind an Identity, as TensorFlow's own lowering has it. Its
  // optimizers hold what they make for a reader of a Switch to the Switch itself, which is the wrong side.
  std::string handed(const std::string& side, DType type, bool read) {
    return read ? text(place_.add("input", "Identity", {side}, {}, {{"T", type_value(type)}})) : side;
  }

  std::string switched(const std::string& tensor, DType type, const std::string& by) {
    return place_.add("switch", "Switch", {tensor, by}, {}, {{"T", type_value(type)}});
  }

  std::string merged_name(const ResultTensors& tensors) {
    std::vector<std::string> inputs;
    for (const auto& [tensor, type] : tensors) inputs.push_back(tensor);
    return place_.add(
        "merge", "Merge", inputs, {},
        {{"N", int_value(static_cast<int64_t>(inputs.size()))}, {"T", type_value(tensors[0].second)}});
  }
  std::string merged(const ResultTensors& tensors) { return text(merged_name(tensors)); }

  // A call that is to be inlined as well: `tie` is dead when its arguments are.
  std::string call(const std::string& word, const std::string& function, const ResultTensors& arguments,
                   const std::vector<DType>& results, const std::string& tie) {
    std::vector<std::string> data;
    std::vector<DType> taken;
    for (const auto& [tensor, type] : arguments) {
      data.push_back(tensor);
      taken.push_back(type);
    }
    const CalledFunction* target = state_.functions.find(function_in(function));
    const std::string made =
        place_.add(word, target->has_effects ? "StatefulPartitionedCall" : "PartitionedCall", data, {tie},
                   {{"Tin", type_list_value(taken)}, {"Tout", type_list_value(results)}, {"f", function}});
    CallSite site;
    site.id = state_.graph.producer(text(made));
    site.tie = tie;
    site.uniform = site.wanted = true;
    site.runs_all = !lowered_at_run_time();
    state_.add_site(std::move(site));
    return made;
  }

  void hold(const std::string& call) {
    state_.sites[state_.site_of.at(index_of(state_.graph.producer(text(call))))].held = true;
  }

  // For each branch of a Case whether it is the one. The last is also taken for whatever is out of range.
  std::vector<std::string> choices(const std::string& index, size_t count) {
    const AttrList int_type{{"T", type_value(DType::kInt32)}};
    std::vector<std::string> chosen;
    const auto compared = [&](std::string_view op, size_t with) {
      const std::string number =
          place_.add("index", "Const", {}, waits(),
                     {{"dtype", type_value(DType::kInt32)},
                      {"value", tensor_value(scalar_proto(DType::kInt32, static_cast<int64_t>(with)))}});
      return state_.graph.text(place_.add("is", op, {index, text(number)}, {}, int_type), "z", 0, 0);
    };
    for (size_t k = 0; k + 1 < count; ++k) chosen.push_back(compared("Equal", k));
    // In this order, which names them.
    const std::string below = compared("Less", 0);
    const std::string above = compared("GreaterEqual", count - 1);
    const std::string last = place_.add("is", "LogicalOr", {below, above}, {}, {});
    chosen.push_back(state_.graph.text(last, "z", 0, 0));
    return chosen;
  }

  InlineState& state_;
  const CallSite& site_;
  CallPlace place_;
  bool effects_ = false;
};

}  // namespace

std::string lower_cond(InlineState& state, const CallSite& site) { return Lowering(state, site).cond(); }
std::string lower_loop(InlineState& state, const CallSite& site) { return Lowering(state, site).loop(); }

}  // namespace gedit
