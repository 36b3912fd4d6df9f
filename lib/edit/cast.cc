// gedit cast: weights of fewer bits, and a graph that computes with them as before.
//
// Variables keep their type: the savers restore the smaller numbers and cast them. Constants become casts of
// smaller ones. Reads, shapes and signatures stay as they are.
#include "edit/edits.h"

#include <functional>
#include <map>

#include "base/error.h"
#include "edit/basis/addresses.h"
#include "edit/basis/facts.h"
#include "edit/changing/cast_constants.h"
#include "edit/savers/cast.h"
#include "edit/savers/checkpoint_keys.h"
#include "model/object_nodes.h"
#include "model/saver_calls.h"
#include "ops/kinds.h"
#include "select/selection.h"

namespace gedit {
namespace {

class CastingWeights {
 public:
  CastingWeights(Model& model, Registry& ops, const CastRequest& request)
      : request_(request), model_(model), graph_(model.graph()), facts_(model, ops), names_(facts_.names()) {}

  CastChanges run() {
    std::optional<Selection> chosen;
    if (!request_.select.empty()) chosen = facts_.selecting().require(request_.select);
    facts_.make_all();
    const bool variables = has_variables();
    refuse_loaded_variables(chosen);
    const auto cast = [&](const std::function<bool(NodeId)>& is_asked) {
      result_.keys = cast_savers(facts_, request_.to, is_asked, names_, result_);
    };
    cast([&](NodeId id) { return chosen ? chosen->nodes.has(id) : !is_scalar(graph_.bytes(id)); });
    if (result_.keys.empty() && !chosen) cast([](NodeId) { return true; });  // there are no others
    bool any = !result_.keys.empty();
    if (chosen || !variables) {
      const uint32_t count = graph_.size();
      for (uint32_t i = 0; i < count; ++i) {
        const NodeId id{i};
        if (graph_.removed(id) || !(chosen ? chosen->nodes.has(id) : is_weight(graph_.bytes(id)))) continue;
        any = cast_constant(graph_, id, request_.to, names_, "", result_) || any;
      }
      any = cast_bodies(chosen) || any;
    }
    if (!any) {
      throw refused("no weights that are wider than " + dtype_name(request_.to))
          .in(model_.path)
          .hint(variables && !chosen ? "-s, for constants" : "");
    }
    return std::move(result_);
  }

 private:
  bool has_variables() const {
    for (const auto& [node, state] : facts_.state()) {
      if (!state.table) return true;
    }
    return false;
  }

  // tf.saved_model.load restores the variables of TensorFlow 2 one by one, as the type that they have.
  void refuse_loaded_variables(const std::optional<Selection>& chosen) const {
    const auto refuse = [&](uint32_t variable, const char* why) {
      if (chosen && !chosen->nodes.has(NodeId{variable})) return;
      throw refused(why)
          .of(quoted("variable", graph_.name(NodeId{variable})))
          .in(model_.path)
          .hint("gedit freeze it first");
    };
    for (const auto& [variable, key] :
         keys_in_functions(model_.meta(), facts_.names(), facts_.selecting().library()))
      refuse(variable, "is restored in a function, as the type that it has");
    // Where the savers' functions were inlined.
    const SavedObjects objects = read_saved_objects(model_.meta().part(meta_field::kObjectGraph));
    const auto nodes = object_nodes(model_.meta(), facts_.names(), objects);
    for (const auto& [node, object] : std::map(nodes.begin(), nodes.end())) {
      if (objects.objects[object].kind == SavedObjects::Kind::kVariable)
        refuse(node, "is an object, which tf.saved_model.load restores as the type that it has");
    }
  }

  // Rates, counters, powers of rates: little is spared, and much is lost.
  static bool is_scalar(std::string_view variable_def) {
    const auto value = find_attr(variable_def, "shape");
    const Shape shape = value ? parse_shape_proto(last_bytes(*value, attr_field::kShape)) : Shape();
    return shape && shape->empty();
  }

  // Numbers that many inputs meet, not settings of an op.
  static bool is_weight(std::string_view node_def) {
    if (!is_const_op(node_op(node_def))) return false;
    const auto value = find_attr(node_def, "value");
    return value && !last_bytes(last_bytes(last_bytes(*value, attr_field::kTensor), 2), 2).empty();
  }

  bool cast_bodies(const std::optional<Selection>& chosen) {
    Library& library = facts_.selecting().library();
    bool any = false;
    for (size_t k = 0; k < library.functions.size(); ++k) {
      if (chosen && !chosen->in_functions.contains(k)) continue;
      Graph& body = library.functions[k].body;
      body.decode();
      const Names known(body);
      NewNames names(known);
      for (const std::string_view argument : argument_names(function_signature(body)))
        names.reserve(argument);
      std::set<std::string, std::less<>> casts;
      const uint32_t count = body.size();
      for (uint32_t i = 0; i < count; ++i) {
        const NodeId id{i};
        if (!(chosen ? chosen->in_functions.at(k).has(id) : is_weight(body.bytes(id)))) continue;
        const std::string name(body.name(id));
        const std::string where = std::string(library.functions[k].name) + "//";
        if (cast_constant(body, id, request_.to, names, where, result_)) casts.insert(name);
      }
      if (casts.empty()) continue;
      read_casts(body, [&](std::string_view node) { return casts.contains(node); });
      any = true;
    }
    if (any) graph_.set_part(graph_field::kLibrary, library.encode());
    return any;
  }

  const CastRequest& request_;
  Model& model_;
  Graph& graph_;
  Facts facts_;
  NewNames names_;
  CastChanges result_;
};

}  // namespace

CastChanges cast(Model& model, Registry& ops, const CastRequest& request) {
  model.graph().decode();
  if (request.rewrites_values) rename_saver_keys(model, {});  // what is written is of version 2
  return CastingWeights(model, ops, request).run();
}

}  // namespace gedit
