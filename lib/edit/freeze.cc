#include "edit/freeze.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/error.h"
#include "base/message_edit.h"
#include "base/near.h"
#include "checkpoint/open.h"
#include "edit/basis/cut.h"
#include "edit/functions/freeze.h"
#include "edit/reduce.h"
#include "edit/savers/checkpoint_keys.h"
#include "edit/savers/values.h"
#include "graph/string_const.h"
#include "model/folder.h"
#include "model/saver_def.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// Where examples come from: a frozen graph is rarely meant to need them.
bool feeds_itself(std::string_view op) {
  return is(op, OpKind::kIterator) || is(op, OpKind::kQueue) || is(op, OpKind::kReader);
}

// Collects the tensors that a signature names.
class TensorNames final : public NameMap {
 public:
  bool map(NameKind, std::string_view name, std::string& out) const override {
    names_.emplace_back(name);
    out += name;
    return true;
  }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  mutable std::vector<std::string> names_;  // a NameMap only maps; this one only listens
};

std::vector<std::string> tensors_of(std::string_view signature, uint32_t side) {
  TensorNames names;
  map_names(only_fields(signature, [&](const Field& field) { return field.bytes(side); }), kSignatureDef,
            names);
  return names.take();
}

class Freezing {
 public:
  Freezing(Model& model, Registry& ops, const FreezeRequest& request, Changes& changes)
      : request_(request),
        changes_(changes),
        outputs_(request.outputs),
        inputs_(request.inputs),
        model_(model),
        graph_(model.graph()) {
    graph_.decode();
    read_signature();
    facts_.emplace(model, ops);
    for (const Function& function : facts_->selecting().library().functions) {
      functions_.insert(function.name);
      function.body.each_record([&](std::string_view node_def) {
        if (is_var_handle_op(node_op(node_def))) owners_.insert(function.name);
      });
    }
    for (const std::string& text : signature_inputs_) take_signature_input(text);
    kept_ = NodeSet(graph_.size());
    frozen_ = NodeSet(graph_.size());
    if (!request.keep.empty()) select_kept();
  }

  FreezeResult run() {
    Facts& facts = *facts_;
    Cut cut(facts, outputs_, inputs_);
    HandleFlow flow(graph_, facts.ops, questions([](NodeId) { return true; }));
    NewNames names(facts.names());
    Pivots pivots(graph_, facts.names(), names);
    GraphFreezing writing(graph_, flow, {facts.ops, names, pivots, &facts.frames(), {}});
    const uint64_t variables = seed_all(flow);
    flow.run();

    Closure closure(facts, [&](NodeId reader, const TensorRef& tensor) {
      return follow(reader, tensor, cut, flow, writing);
    });
    for (const TensorRef& output : cut.outputs()) {
      if (writing.writes(output.node)) refuse_writer(output.node, flow);
      closure.want(output.node);
    }
    for (const NodeId input : extra_inputs_) closure.want(input);
    everything_freezes_ = false;
    for (const NodeId id : closure.found()) freeze_if_variable(id);

    const std::vector<NodeId> needed = closure.found();
    Reduction reduction(facts, closure);
    reduction.keep_state([this](const StateOf& state) { return state.table || kept_.has(state.node); });
    reduction.need_variables();
    reduction.complete();
    if (!keeps_any(closure.nodes())) reduction.drop_objects();
    freeze_what_nothing_initializes(closure);
    cut.apply(closure, changes_);

    open_values();  // finds its keys in savers, which are made smaller next
    reduction.shrink_savers(changes_);
    Library library = Library::decode(graph_.part(graph_field::kLibrary), model_.arena);
    FunctionFreezing functions(library, facts.ops, model_.arena, [this](std::string_view node_def) {
      if (!values_) throw refused("1 variable and no checkpoint").hint("--checkpoint PREFIX");
      return values_->value_of_own(node_def);
    });
    freeze_owners(needed, library, functions);
    rewire_readers_of_writers(closure.nodes(), writing, pivots);
    convert(closure.nodes(), names, pivots, functions);
    pivots.append();
    put_values(frozen_.nodes());
    FreezeResult result{kept_keys(closure.nodes(), reduction)};
    if (!functions.empty()) graph_.set_part(graph_field::kLibrary, functions.library());

    tell(closure.nodes(), functions, variables, reduction);
    reduction.apply(changes_);
    return result;
  }

 private:
  // Outputs and inputs of the signature that was asked for, or of the only one that there is.
  void read_signature() {
    if (!request_.signature.empty() && !request_.outputs.empty())
      throw Error(Cause::kUsage, "--outputs and --signature exclude each other");
    std::string key = request_.signature;
    std::vector<std::string> keys;
    Near near(key);
    std::optional<std::string_view> found;
    for (const std::string_view bytes : model_.meta().parts_of(meta_field::kSignature)) {
      const MapEntry entry = map_entry(bytes);
      if (entry.key.starts_with("__saved_model_")) continue;
      keys.emplace_back(entry.key);
      near.offer(entry.key);
      if (entry.key == key) found = entry.value;
      if (key.empty() && model_.kind == Kind::kSavedModel) found = entry.value;
    }
    if (!request_.outputs.empty()) return;
    if (key.empty() && keys.size() != 1) {
      std::sort(keys.begin(), keys.end());
      std::string hint;
      for (const std::string& one : keys) hint += (hint.empty() ? "" : ", ") + printable(one);
      throw Error(Cause::kUsage, "what is to be kept?")
          .hint(keys.empty() ? "--outputs T,.." : "--outputs T,.., or --signature with one of: " + hint);
    }
    if (!found) {
      if (key.empty())
        throw Error(Cause::kUsage, "what is to be kept?").hint("--outputs T,.., or --signature " + keys[0]);
      throw refused("no such signature").of(quoted("signature", key)).hint(near.did_you_mean_or_all());
    }
    outputs_ = tensors_of(*found, 2);
    signature_inputs_ = tensors_of(*found, 1);
    if (outputs_.empty()) throw refused("has no outputs").of(quoted("signature", key));
  }

  // A Placeholder stays, needed or not, so that the signature does; anything else is cut there.
  void take_signature_input(const std::string& text) {
    const std::optional<TensorRef> tensor = tensor_if_there(facts_->names(), text);
    const bool fed = tensor && is_placeholder_op(node_op(graph_.bytes(tensor->node)));
    if (!fed) {
      inputs_.push_back(text);
      return;
    }
    const auto stated = [&](const std::string& input) {
      return tensor_if_there(facts_->names(), parse_typed_tensor(input).name) == tensor;
    };
    if (std::none_of(inputs_.begin(), inputs_.end(), stated)) extra_inputs_.push_back(tensor->node);
  }

  void select_kept() {
    const Selection hit = facts_->selecting().require(request_.keep);
    for (const NodeId id : hit.nodes.nodes()) {
      if (is_variable_op(node_op(graph_.bytes(id)))) kept_.add(id);
    }
    if (kept_.empty()) throw refused("hits no variable").of(quoted("selector", request_.keep));
  }

  HandleFlow::Questions questions(std::function<bool(NodeId)> regards) const {
    return {[this](std::string_view name) {
              const NodeId id = facts_->names().find(name);
              if (id == kNoNode) return std::vector<NodeId>();
              const auto readers = facts_->consumers().of(id);
              std::vector<NodeId> found(readers.begin(), readers.end());
              const auto more = new_readers_.find(index_of(id));
              if (more != new_readers_.end())
                found.insert(found.end(), more->second.begin(), more->second.end());
              return found;
            },
            std::move(regards), [this](std::string_view op) { return functions_.contains(op); }};
  }

  void seed(HandleFlow& flow, NodeId variable) const {
    const std::string_view node_def = graph_.bytes(variable);
    Carried carried;
    carried.dtype = base_type(type_attr(node_def, "dtype").value_or(DType::kInvalid));
    if (const auto shape = find_attr(node_def, "shape"))
      carried.shape = parse_shape_proto(last_bytes(*shape, attr_field::kShape));
    carried.variable = graph_.name(variable);
    carried.reference = !is_var_handle_op(node_op(node_def));
    flow.seed(carried.variable, carried);
  }

  // Every variable that may become a constant; gives the number of all variables.
  uint64_t seed_all(HandleFlow& flow) const {
    uint64_t variables = 0;
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (!is_variable_op(node_op(graph_.bytes(NodeId{i})))) continue;
      ++variables;
      if (!kept_.has(NodeId{i})) seed(flow, NodeId{i});
    }
    return variables;
  }

  [[noreturn]] void refuse_writer(NodeId writer, const HandleFlow& flow) const {
    throw outright_write(graph_, writer, flow.carried_inputs(writer).begin()->second.variable);
  }

  // Whether the node writes what becomes a constant.
  bool is_dropped(NodeId id, const HandleFlow& flow, const GraphFreezing& writing) const {
    if (!writing.writes(id)) return false;
    if (everything_freezes_) return true;
    for (const auto& [slot, carried] : flow.carried_inputs(id)) {
      const NodeId variable = facts_->names().find(carried.variable);
      if (variable != kNoNode && frozen_.has(variable)) return true;
    }
    return false;
  }

  std::optional<TensorRef> follow(NodeId reader, TensorRef tensor, Cut& cut, const HandleFlow& flow,
                                  const GraphFreezing& writing) {
    if (cut.stops(tensor)) return std::nullopt;
    if (is_dropped(tensor.node, flow, writing)) {
      const auto drops = [&](NodeId id) {
        const bool dropped = is_dropped(id, flow, writing);
        if (dropped) dropped_.insert(id);
        return dropped;
      };
      const auto source = behind(tensor_text(graph_, {tensor.node, tensor.index, false}), tensor.control,
                                 reader, writing, drops);
      const auto found = source ? tensor_if_there(facts_->names(), *source) : std::nullopt;
      if (!found) return std::nullopt;
      tensor = {found->node, found->index, tensor.control};
    }
    // Whether it is initialized is known without it, and on which side of a cond it is asked is not.
    if (!tensor.control && facts_->frames().of(reader) == 0 &&
        is(node_op(graph_.bytes(reader)), OpKind::kNeedsNoValue) && flow.users().contains(index_of(reader)) &&
        !flow.carried_inputs(reader).begin()->second.switched) {
      asking_.insert(reader);
      return std::nullopt;
    }
    return tensor;
  }

  // The tensor that stands for `tensor` at a reader, where the writers that it comes from go: what is read,
  // or what a control input waits for. Nothing where a control input goes, too.
  std::optional<std::string> behind(std::string tensor, bool control, NodeId reader,
                                    const GraphFreezing& writing,
                                    const std::function<bool(NodeId)>& drops) const {
    std::set<NodeId> passed;  // writers that read each other in a ring have nothing behind them
    for (;;) {
      const NodeId source = facts_->names().find(parse_input(tensor).node);
      if (source == kNoNode || !drops(source)) return tensor;
      if (!passed.insert(source).second) return std::nullopt;
      const std::optional<std::string> next =
          control ? writing.waits_for(reader, source) : writing.bypass(source);
      if (!next) return std::nullopt;
      tensor = *next;
    }
  }

  void freeze_if_variable(NodeId id) {
    if (is_variable_op(node_op(graph_.bytes(id))) && !kept_.has(id)) frozen_.add(id);
  }

  // What only initial values read, and nothing that stays initializes, is a constant as well.
  void freeze_what_nothing_initializes(const Closure& closure) {
    for (const NodeId id : closure.found()) {
      const auto state = facts_->state().find(index_of(id));
      if (state == facts_->state().end() || state->second.table || frozen_.has(id)) continue;
      const NodeId initializer = state->second.initializer;
      if (initializer == kNoNode || !closure.nodes().has(initializer)) freeze_if_variable(id);
    }
  }

  // Functions below these nodes that hold variables themselves.
  void freeze_owners(const std::vector<NodeId>& nodes, const Library& library,
                     FunctionFreezing& functions) const {
    if (owners_.empty()) return;
    FunctionReach reach(library);
    for (const NodeId id : nodes) reach.calls_of(graph_.bytes(id));
    reach.follow();
    for (size_t i = 0; i < library.functions.size(); ++i) {
      if (reach.reached(i) && owners_.contains(library.functions[i].name)) functions.freeze_own(i);
    }
  }

  void convert(const NodeSet& stays, NewNames& names, Pivots& pivots, FunctionFreezing& functions) {
    Facts& facts = *facts_;
    HandleFlow flow(graph_, facts.ops, questions([&stays](NodeId id) { return stays.has(id); }));
    GraphFreezing freezing(
        graph_, flow,
        {facts.ops, names, pivots, &facts.frames(),
         [&functions](std::string_view name, const std::map<uint32_t, Carried>& arguments) {
           return functions.specialise(name, arguments);
         }});
    for (const NodeId id : frozen_.nodes()) seed(flow, id);
    freezing.settle();
    for (const NodeId writer : freezing.writers()) refuse_writer(writer, flow);
    freezing.convert();
    for (const NodeId id : asking_) {  // of a variable that nothing else needs, and that is gone
      if (stays.has(id) && is(node_op(graph_.bytes(id)), OpKind::kNeedsNoValue)) freezing.answer(id);
    }
    for (const auto& [index, use] : flow.users())
      changes_.changed.emplace_back(graph_.name(NodeId{index}), node_op(graph_.bytes(NodeId{index})));
  }

  void rewire_readers_of_writers(const NodeSet& stays, const GraphFreezing& writing, Pivots& pivots) {
    std::set<NodeId> readers;
    for (const NodeId writer : dropped_) {
      for (const NodeId reader : facts_->consumers().of(writer)) {
        if (stays.has(reader)) readers.insert(reader);
      }
    }
    const auto drops = [this](NodeId id) { return dropped_.contains(id); };
    for (const NodeId reader : readers) {
      std::vector<std::string> inputs;
      std::set<std::string> controls;
      each_input(graph_.bytes(reader), [&](std::string_view text) {
        const bool control = text.starts_with('^');
        std::string tensor(control ? text.substr(1) : text);
        std::optional<std::string> now = behind(tensor, control, reader, writing, drops);
        if (!now) return;
        if (control) {
          *now = *now == tensor ? std::string(text) : pivots.control_on(*now);
          if (!controls.insert(*now).second) return;
        } else if (*now != tensor) {
          new_readers_[index_of(facts_->names().find(parse_input(*now).node))].push_back(reader);
        }
        inputs.push_back(std::move(*now));
      });
      graph_.replace(reader, with_inputs(graph_.bytes(reader), inputs));
    }
  }

  void open_values() {
    if (request_.checkpoint.empty() || (frozen_.empty() && kept_.empty() && owners_.empty())) return;
    const auto source =
        std::make_shared<ValueSource>(open_checkpoint(request_.checkpoint, &changes_.warnings));
    values_.emplace(*facts_, source, request_.checkpoint);
  }

  // The variables become Consts.
  void put_values(const std::vector<NodeId>& constants) {
    if (!constants.empty() && !values_) {
      throw refused(std::to_string(constants.size()) + (constants.size() == 1 ? " variable" : " variables") +
                    " and no checkpoint")
          .hint("--checkpoint PREFIX");
    }
    for (const NodeId id : constants) {
      ConstantValue value = values_->value(id);
      std::string attr;
      append_bytes_field(attr, attr_field::kTensor, value.tensor_proto);
      const std::string_view node_def = graph_.bytes(id);
      NodeBuilder builder(node_name(node_def), "Const");
      each_input(node_def, [&](std::string_view text) { builder.input(text); });
      builder.type("dtype", static_cast<DType>(last_varint(value.tensor_proto, 1)));
      std::string constant = builder.attr("value", attr).take();
      changes_.changed.emplace_back(graph_.name(id), "Const");
      if (value.content == nullptr) {
        graph_.replace(id, std::move(constant));
      } else {
        graph_.replace(id, std::move(constant), std::move(value.content));
      }
    }
  }

  // Of the variables that stay, and of what else their savers restore.
  std::vector<std::string> kept_keys(const NodeSet& stays, const Reduction& reduction) const {
    std::vector<std::string> keys;
    std::vector<NodeId> variables;
    for (const NodeId id : kept_.nodes()) {
      if (!values_ || !stays.has(id)) continue;
      keys.push_back(values_->key_of(id));
      variables.push_back(id);
    }
    if (keys.empty()) return keys;
    for (std::string& key : reduction.object_keys(variables)) keys.push_back(std::move(key));
    add_restored_keys(stays, keys);
    return keys;
  }

  bool keeps_any(const NodeSet& stays) const {
    const std::vector<NodeId> kept = kept_.nodes();
    return std::any_of(kept.begin(), kept.end(), [&](NodeId id) { return stays.has(id); });
  }

  // What savers that stay restore besides variables: the contents of tables.
  void add_restored_keys(const NodeSet& stays, std::vector<std::string>& keys) const {
    for (const SaverNode& restore : facts_->savers().restores) {
      for (const SavedTensor& tensor : restore.tensors) {
        if (stays.has(restore.node) && tensor.variable == kNoNode) keys.push_back(tensor.key);
      }
    }
    const NodeId call = saver_def_nodes(model_.meta().part(meta_field::kSaver), facts_->names()).restore;
    if (call == kNoNode || !stays.has(call)) return;
    const Library library = Library::decode(graph_.part(graph_field::kLibrary), model_.arena);
    FunctionReach reach(library);
    reach.calls_of(graph_.bytes(call));
    reach.follow();
    for (size_t i = 0; i < library.functions.size(); ++i) {
      if (!reach.reached(i)) continue;
      library.functions[i].body.each_record([&](std::string_view node_def) {
        const auto strings = string_const(node_def);
        if (strings) keys.insert(keys.end(), strings->begin(), strings->end());
      });
    }
  }

  void tell(const NodeSet& stays, const FunctionFreezing& functions, uint64_t variables,
            const Reduction& reduction) {
    if (variables == 0 && owners_.empty()) changes_.warnings.emplace_back("no variables: frozen already?");
    std::vector<std::string> writers;
    for (const NodeId id : dropped_) writers.emplace_back(graph_.name(id));
    writers.insert(writers.end(), functions.writers().begin(), functions.writers().end());
    if (!writers.empty()) {
      changes_.warnings.push_back(std::to_string(writers.size()) +
                                  (writers.size() == 1 ? " writer" : " writers") + " bypassed, first '" +
                                  printable(writers.front()) + "'");
    }
    size_t feeding = 0;
    std::string first;
    for (const NodeId id : stays.nodes()) {
      if (feeds_itself(node_op(graph_.bytes(id))) && feeding++ == 0)
        first = printable(graph_.name(id)) + " (" + printable(node_op(graph_.bytes(id))) + ")";
    }
    if (feeding > 0) {
      changes_.warnings.push_back("the outputs still need " + std::to_string(feeding) +
                                  (feeding == 1 ? " node" : " nodes") + " of an input pipeline, first " +
                                  first + "; hint: --inputs");
    }
    tell_of_contents(stays);
    tell_of_tables(stays, reduction);
  }

  // Tables of which a saver that goes has the contents.
  void tell_of_contents(const NodeSet& stays) {
    if (std::any_of(facts_->state().begin(), facts_->state().end(), [&](const auto& entry) {
          return kept_.has(entry.second.node) && stays.has(entry.second.node);
        }))
      return;  // with a variable the saver stays, and so do they
    std::set<std::string> empty;
    const auto is_mutable = [](std::string_view op) { return is(op, OpKind::kMutableTable); };
    const auto makers = functions_with(facts_->selecting().library(), is_mutable);
    for (const auto& [index, state] : facts_->state()) {
      const std::string_view node_def = graph_.bytes(state.node);
      const bool mutates = is_mutable(node_op(node_def)) || makers.contains(called_function(node_def));
      if (state.table && mutates && state.satellites.empty() && stays.has(state.node))
        empty.insert(std::string(graph_.name(state.node)));
    }
    if (empty.empty()) return;
    changes_.warnings.push_back(
        std::to_string(empty.size()) + (empty.size() == 1 ? " table is" : " tables are") +
        " filled by a checkpoint alone and will be empty, first '" + printable(*empty.begin()) + "'");
  }

  // Tables that no init op fills.
  void tell_of_tables(const NodeSet& stays, const Reduction& reduction) {
    std::string names;
    for (const auto& [initializer, owner] : facts_->initializer_owner()) {
      const NodeId id{initializer};
      if (!stays.has(id) || !reduction.keeps(owner) || !facts_->state().at(index_of(owner)).table) continue;
      const auto readers = facts_->consumers().of(id);
      const bool run = std::any_of(readers.begin(), readers.end(), [&](NodeId reader) {
        return stays.has(reader) && is_no_op(node_op(graph_.bytes(reader)));
      });
      const bool asked = std::any_of(outputs_.begin(), outputs_.end(), [&](const std::string& output) {
        return parse_input(output).node == graph_.name(id);
      });
      if (!run && !asked) unrun_.insert(std::string(graph_.name(id)));
    }
    for (const std::string& name : unrun_) names += (names.empty() ? "" : ", ") + printable(name);
    if (!names.empty()) changes_.notes.push_back("no init op fills the tables any more: run " + names);
  }

  const FreezeRequest& request_;
  Changes& changes_;
  std::vector<std::string> outputs_, inputs_, signature_inputs_;
  Model& model_;
  Graph& graph_;
  std::optional<Facts> facts_;
  std::optional<VariableValues> values_;
  std::unordered_set<std::string_view> functions_, owners_;  // owners_: that hold variables themselves
  std::vector<NodeId> extra_inputs_;
  NodeSet kept_;                    // variables that stay, whether they are needed or not
  NodeSet frozen_;                  // variables that become constants
  bool everything_freezes_ = true;  // while the outputs' closure is looked for: all but kept_
  std::set<NodeId> dropped_;        // writers that were in the way
  std::unordered_map<uint32_t, std::vector<NodeId>> new_readers_;  // by node: that read a dropped writer
  std::set<NodeId> asking_;                                        // whether a variable is initialized
  std::set<std::string> unrun_;
};

}  // namespace

FreezeResult freeze(Model& model, Registry& ops, const FreezeRequest& request, Changes& changes) {
  return Freezing(model, ops, request, changes).run();
}

std::string values_of(const Model& model, const std::string& named) {
  const std::string found = checkpoint_of(model, named);
  if (!found.empty() || !model.path.ends_with(".meta")) return found;
  const std::string prefix = twin_prefix(model.path);
  return find_checkpoint(prefix) ? prefix : "";
}

}  // namespace gedit
