#include "edit/changing/shared_state.h"

#include <atomic>
#include <map>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text_search.h"
#include "edit/basis/runtime_names.h"
#include "edit/changing/rename_mapping.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr std::string_view kSharedName = "shared_name";

// Most large graphs hold no state at all, which a look at their bytes tells sooner than one at each node.
bool mentions_shared_names(const Graph& graph) {
  if (graph.edited()) return true;
  const std::string_view bytes = graph.message();
  const TextSearch search("\x0bshared_name");  // with its length, which few texts have
  constexpr size_t kPiece = size_t{4} << 20;
  std::atomic<bool> found{false};
  in_parallel((bytes.size() + kPiece - 1) / kPiece, [&](size_t i) {
    if (!found && search.finds_in(bytes.substr(i * kPiece, kPiece + kSharedName.size() + 1))) found = true;
  });
  return found;
}

void check_frames(const Graph& graph, const RenameMapping& mapping) {
  std::map<std::string, std::string_view> frames;  // as they will be, and are
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (graph.removed(NodeId{i}) || !graph.is(NodeId{i}, OpKind::kEnter)) continue;
    const auto frame = string_attr(graph.bytes(NodeId{i}), "frame_name");
    if (!frame) continue;
    std::string now;
    mapping.frame(*frame, now);
    const auto [other, fresh] = frames.emplace(now, *frame);
    if (!fresh && other->second != *frame)
      throw refused("would be the frame of two loops, '" + printable(other->second) + "' and '" +
                    printable(*frame) + "'")
          .of(quoted("frame", now))
          .hint("choose another name");
  }
}

}  // namespace

bool is_state_of_its_name(std::string_view node_def) {
  return string_attr(node_def, kSharedName) == node_name(node_def) || shares_by_node_name(node_def);
}

SharedState shared_state(const Graph& graph) {
  SharedState state;
  if (!mentions_shared_names(graph)) return state;
  std::set<std::string_view> names;
  state.holders = graph.records_where([&](std::string_view node_def) {
    const std::string_view shared = string_attr(node_def, kSharedName).value_or("");
    return !stays_as_it_is(shared) && shared != node_name(node_def);
  });
  if (state.holders.empty()) return state;
  for (const std::string_view node_def : state.holders)
    names.insert(string_attr(node_def, kSharedName).value_or(""));
  for (const std::string_view node_def : graph.records_where([&](std::string_view node_def) {
         return names.contains(node_name(node_def)) && is_state_of_its_name(node_def);
       }))
    state.owned.emplace(node_name(node_def));
  return state;
}

void check_told_apart(Graph& graph, const SharedState& state, const RenameMapping& mapping) {
  if (mapping.moves_frames()) {
    graph.decode();
    check_frames(graph, mapping);
  }
  if (state.holders.empty()) return;
  struct Known {
    std::string before, node;
  };
  std::map<std::string, Known, std::less<>> known;  // by what it will be known by
  const auto add = [&](std::string_view node_def, std::string_view before) {
    std::string now;
    mapping.shared_name(node_name(node_def), before, now);
    const auto [other, fresh] =
        known.try_emplace(now, Known{std::string(before), std::string(node_name(node_def))});
    if (!fresh && other->second.before != before)
      throw refused("would be the shared_name of '" + printable(other->second.node) + "' and '" +
                    printable(node_name(node_def)) + "', which are two")
          .of("'" + printable(now) + "'")
          .hint("choose another name");
  };
  for (const std::string_view node_def : state.holders)
    add(node_def, string_attr(node_def, kSharedName).value_or(""));
  graph.decode();
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (graph.removed(NodeId{i})) continue;
    std::string now;
    mapping.node(graph.name(NodeId{i}), now);
    if (!known.contains(now)) continue;
    const std::string_view node_def = graph.bytes(NodeId{i});
    if (is_state_of_its_name(node_def)) add(node_def, node_name(node_def));
  }
}

}  // namespace gedit
