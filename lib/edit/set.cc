// gedit set: devices, attributes and shapes of nodes.
//
// A device that all nodes get in the last step is a mapping, which costs no memory per node.
#include "edit/edits.h"

#include "base/error.h"
#include "base/message_edit.h"
#include "edit/basis/device_name.h"
#include "edit/changing/set_attribute.h"
#include "edit/changing/set_shape.h"
#include "edit/changing/setting.h"

namespace gedit {
namespace {

std::string with_device(std::string_view node_def, std::string_view device) {
  return device.empty()
             ? only_fields(node_def, [](const Field& field) { return !field.bytes(node_field::kDevice); })
             : with_field(node_def, node_field::kDevice, device);
}

bool is_whole_graph(const NodeSet& nodes, const Graph& graph) {
  uint32_t there = 0;
  for (uint32_t i = 0; i < graph.size(); ++i) there += graph.removed(NodeId{i}) ? 0 : 1;
  return nodes.count() == there;
}

void set_device(Setting& setting, const std::string& text, bool last) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) {
    const bool device = text.starts_with('/') || text.starts_with("=/");
    throw misused(text, "is no SEL=DEV")
        .hint(device ? "all nodes: --device '**=" + text.substr(equals == 0 ? 1 : 0) + "'"
                     : "no device: --device '" + (equals == 0 ? "**" : text) + "='");
  }
  const std::string device = text.substr(equals + 1);
  check_device(device);
  const Selection selection = setting.selecting.require(text.substr(0, equals));
  const bool all = last && is_whole_graph(selection.nodes, setting.graph());
  bool any = false;
  setting.each(selection, [&](Graph& where, NodeId id, const std::string& function) {
    const NodeHead head = node_head(where.bytes(id));
    if (head.device == device) return;
    setting.say(function, head.name, "device '" + std::string(head.device) + "' -> '" + device + "'");
    if (all && !where.is_body()) {
      any = true;
    } else {
      setting.replace(where, id, with_device(where.bytes(id), device));
    }
  });
  if (any) setting.put_all_on(device);
}

}  // namespace

Changes set(Model& model, Registry& ops, const SetRequest& request) {
  const std::vector<SetStep>& steps = request.steps;
  if (steps.empty()) throw Error(Cause::kUsage, "what is to be set?").hint("--device, --attr or --shape");
  model.graph().decode();
  Setting setting(model, ops, request.want_changes);
  std::optional<ShapeFollowing> following;  // of the graph as the first --shape finds it
  for (const SetStep& step : steps) {
    switch (step.is) {
      case SetStep::Is::kDevice:
        set_device(setting, step.text, &step == &steps.back());
        break;
      case SetStep::Is::kAttr:
        set_attribute(setting, step.text);
        break;
      case SetStep::Is::kShape:
        if (request.follow && !following) {
          setting.drop_stale();
          following.emplace(setting);
        }
        set_shape(setting, step.text, following ? &*following : nullptr);
        break;
    }
  }
  if (following) following->finish(request.rebake);
  return setting.finish();
}

}  // namespace gedit
