#include "edit/savers/nodes.h"

#include <algorithm>

#include "base/wire.h"
#include "graph/string_const.h"
#include "graph/wiring.h"

namespace gedit {

std::vector<std::string> SaverNodes::inputs_of(NodeId id) const { return gedit::inputs_of(node(id)); }

std::string SaverNodes::duplicate(NodeId id, const std::vector<std::string>& inputs, std::string node_def) {
  if (node_def.empty()) node_def = node(id);
  const std::string name = free_name(node_name(node(id)));
  std::string renamed;
  append_bytes_field(renamed, node_field::kName, name);
  const std::string rewired = with_inputs(node_def, inputs);
  for (Fields fields(rewired); fields.next();) {
    if (!fields->bytes(node_field::kName)) renamed += fields->raw;
  }
  add(std::move(renamed));
  return name;
}

bool SaverNodes::is_alone(NodeId id, NodeId reader) const {
  const auto readers = consumers().of(id);
  return !read_elsewhere(id) && std::all_of(readers.begin(), readers.end(), [&](NodeId one) {
    return one == reader || !still_reads(one, id);
  });
}

std::string SaverNodes::set_strings(NodeId id, NodeId reader, const std::string& input,
                                    const std::vector<std::string>& strings) {
  std::string node_def = with_strings(node(id), strings);
  if (!is_alone(id, reader)) return output_of(duplicate(id, inputs_of(id), std::move(node_def)));
  change(id, std::move(node_def));
  return input;
}

void SaverNodes::run_groups() {
  for (const auto& [group, gained] : groups_) {
    std::vector<std::string> inputs = inputs_of(NodeId{group});
    inputs.insert(inputs.end(), gained.begin(), gained.end());
    change(NodeId{group}, with_inputs(node(NodeId{group}), inputs));
  }
  groups_.clear();
}

bool GraphSaverNodes::still_reads(NodeId reader, NodeId id) const {
  if (shared_ == SharedConsts::kStay) return true;
  bool reads = false;
  each_input(graph_.bytes(reader), [&](std::string_view text) {
    reads = reads || parse_input_of(graph_, text).node == graph_.name(id);
  });
  return reads;
}

}  // namespace gedit
