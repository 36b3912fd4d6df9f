#include "edit/changing/setting.h"

#include "edit/basis/addresses.h"
#include "graph/types.h"

namespace gedit {
namespace {

// Every node as it is, on one device.
class OnDevice final : public Mapping {
 public:
  explicit OnDevice(std::string device) : device_(std::move(device)) {}
  void node(std::string_view name, std::string& out) const override { out += name; }
  bool input(const NodeHead& /*reader*/, std::string_view input, std::string& out) const override {
    out += input;
    return true;
  }
  const std::string* device(NodeId /*id*/) const override { return &device_; }

 private:
  std::string device_;
};

}  // namespace

// A selector of a step speaks of shapes as the steps before it left them.
Setting::Setting(Model& model, Registry& ops, bool want_changes)
    : model(model), ops(ops), op_defs(ops), selecting(model, ops), want_changes_(want_changes) {
  selecting.infer_shapes_by([this] {
    drop_stale();
    store_functions();
    return std::make_unique<Inference>(graph(), this->ops, InferRequest{stated_, true});
  });
}

const Names& Setting::names(const std::string& function) {
  if (function.empty()) return selecting.names();
  auto& made = body_names_[function];
  if (!made) made = std::make_unique<Names>(find_function(selecting.library(), function).body);
  return *made;
}

const Edges& Setting::consumers(const std::string& function) {
  auto& made = consumers_[function];
  if (!made) {
    made = std::make_unique<Edges>(reversed(
        function.empty() ? selecting.producers()
                         : producers(find_function(selecting.library(), function).body, names(function))));
  }
  return *made;
}

void Setting::replace(Graph& where, NodeId id, std::string_view node_def) {
  functions_edited_ = functions_edited_ || where.is_body();
  where.replace(id, node_def);
  selecting.forget_shapes();
}

void Setting::say(const std::string& function, std::string_view name, std::string what) {
  if (want_changes_) changes.changed.emplace_back(address(function, name), std::move(what));
}

void Setting::mark_stale(Graph& where, const std::string& function, NodeId id) {
  Stale& stale = stale_.try_emplace(function, Stale{&where, NodeSet(where.size())}).first->second;
  stale.nodes.add(id);
}

void Setting::put_all_on(std::string device) {
  on_device_ = std::make_shared<const OnDevice>(std::move(device));
}

void Setting::drop_stale() {
  for (auto& [function, stale] : stale_) drop_output_shapes(*stale.graph, consumers(function), stale.nodes);
  stale_.clear();
}

void Setting::store_functions() {
  if (functions_edited_) graph().set_part(graph_field::kLibrary, selecting.library().encode());
}

Changes Setting::finish() {
  drop_stale();
  store_functions();
  if (on_device_) graph().map_all(on_device_);
  return std::move(changes);
}

}  // namespace gedit
