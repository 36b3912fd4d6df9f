#include "edit/savers/cast.h"

#include <map>
#include <optional>
#include <vector>

#include "base/error.h"
#include "edit/savers/entries.h"
#include "graph/wiring.h"
#include "weights/casting.h"

namespace gedit {
namespace {

// Where a Save or Restore node says the types of its tensors.
constexpr std::string_view kSaverTypes = "dtypes", kTypesOfV1Save = "T", kTypeOfV1Restore = "dt";

class SaverCasting {
 public:
  SaverCasting(Facts& facts, DType to, NewNames& names, Changes& changes)
      : facts_(facts), graph_(facts.edited()), to_(to), names_(names), changes_(changes) {}

  std::set<std::string> run(const std::function<bool(NodeId)>& wanted) {
    each_saver([&](const SaverNode& saver) {
      if (!saver.readable())
        throw refused("its keys are no constant").of(quoted("node", graph_.name(saver.node)));
      const std::vector<DType> types = saver_types(graph_.bytes(saver.node));
      for (const SavedTensor& tensor : saver.tensors) {
        if (tensor.variable == kNoNode || tensor.slot >= types.size() || !wanted(tensor.variable)) continue;
        const DType type = types[tensor.slot];
        if (becomes_narrower(type, to_)) keys_.insert(tensor.key);
      }
    });
    each_saver([&](const SaverNode& saver) { saver.saves ? cast_saved(saver) : cast_restored(saver); });
    return std::move(keys_);
  }

 private:
  template <typename Use>
  void each_saver(Use use) const {
    for (const auto* savers : {&facts_.savers().saves, &facts_.savers().restores}) {
      for (const SaverNode& saver : *savers) use(saver);
    }
  }

  void set_types(std::string& node_def, const std::vector<DType>& types) const {
    if (find_attr(node_def, kTypeOfV1Restore)) {
      node_def = with_attr(node_def, kTypeOfV1Restore, type_value(types.front()));
    } else {
      const std::string_view key = find_attr(node_def, kSaverTypes) ? kSaverTypes : kTypesOfV1Save;
      node_def = with_attr(node_def, key, type_list_value(types));
    }
  }

  // By slot: what it was, and is no more.
  std::map<uint32_t, DType> changed_slots(const SaverNode& saver, std::vector<DType>& types) const {
    std::map<uint32_t, DType> changed;
    for (const SavedTensor& tensor : saver.tensors) {
      if (!keys_.contains(tensor.key) || tensor.slot >= types.size()) continue;
      if (types[tensor.slot] == to_ || !is_floating(types[tensor.slot])) continue;
      changed.emplace(tensor.slot, types[tensor.slot]);
    }
    for (const auto& [slot, type] : changed) types[slot] = to_;
    return changed;
  }

  // Beside a saver, of which thousands of tensors may be cast.
  class Casts {
   public:
    Casts(SaverCasting& casting, NodeId saver)
        : casting_(casting),
          base_(std::string(casting.graph_.name(saver)) + "/Cast"),
          device_(node_device(casting.graph_.bytes(saver))) {}

    std::string add(const std::string& input, DType from, DType to) {
      std::string name = casting_.names_.free(base_);
      NodeBuilder builder(name, "Cast");
      builder.input(input).device(device_).type("DstT", to).type("SrcT", from);
      casting_.graph_.append(builder.take());
      casting_.changes_.added.emplace_back(name, "Cast");
      return name;
    }

   private:
    SaverCasting& casting_;
    std::string base_, device_;
  };

  void cast_restored(const SaverNode& saver) {
    std::vector<DType> types = saver_types(graph_.bytes(saver.node));
    const std::map<uint32_t, DType> changed = changed_slots(saver, types);
    if (changed.empty()) return;
    const std::string name(graph_.name(saver.node));
    Casts added(*this, saver.node);
    std::map<std::string, std::string> casts;  // by tensor
    for (const auto& [slot, type] : changed) {
      const std::string tensor = tensor_text(name, slot);
      casts.emplace(tensor, added.add(tensor, to_, type));
    }
    for (const NodeId reader : facts_.consumers().of(saver.node)) {
      std::vector<std::string> inputs = inputs_of(graph_.bytes(reader));
      for (std::string& input : inputs) {
        if (const auto found = casts.find(canonical_input(input)); found != casts.end())
          input = found->second;
      }
      graph_.replace(reader, with_inputs(graph_.bytes(reader), inputs));
    }
    store_types(saver.node, types);
  }

  void cast_saved(const SaverNode& saver) {
    std::vector<DType> types = saver_types(graph_.bytes(saver.node));
    const std::map<uint32_t, DType> changed = changed_slots(saver, types);
    if (changed.empty()) return;
    std::vector<std::string> inputs = inputs_of(graph_.bytes(saver.node));
    Casts added(*this, saver.node);
    for (const auto& [slot, type] : changed) {
      std::string& input = inputs.at(saver.first_tensor + slot);
      input = added.add(input, type, to_);
    }
    graph_.replace(saver.node, with_inputs(graph_.bytes(saver.node), inputs));
    store_types(saver.node, types);
  }

  void store_types(NodeId id, const std::vector<DType>& types) {
    std::string node_def(graph_.bytes(id));
    set_types(node_def, types);
    graph_.replace(id, node_def);
    changes_.changed.emplace_back(graph_.name(id), dtype_name(to_));
  }

  Facts& facts_;
  Graph& graph_;
  DType to_;
  NewNames& names_;
  Changes& changes_;
  std::set<std::string> keys_;
};

}  // namespace

std::set<std::string> cast_savers(Facts& facts, DType to, const std::function<bool(NodeId variable)>& wanted,
                                  NewNames& names, Changes& changes) {
  return SaverCasting(facts, to, names, changes).run(wanted);
}

}  // namespace gedit
