#include "shapes/flops_table.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/size.h"
#include "cli/say.h"
#include "cli/text.h"
#include "graph/types.h"

namespace gedit {
namespace {

std::string share(uint64_t part, uint64_t whole) {
  const int64_t tenths =
      whole == 0 ? 0 : std::llround(1000.0 * static_cast<double>(part) / static_cast<double>(whole));
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "%";
}

// `3 ops, 2 kinds: Conv2D, Relu`
std::string ops_text(const std::map<std::string, uint64_t>& counts) {
  uint64_t nodes = 0;
  std::string ops;
  for (const auto& [op, count] : counts) {
    nodes += count;
    if (!ops.empty()) ops += ", ";
    ops += op;
  }
  return counted(nodes, "op") + ", " + counted(counts.size(), "kind") + ": " + printable(ops);
}

}  // namespace

std::string flops_table(const Flops& flops) {
  std::vector<std::array<std::string, 6>> rows;
  rows.push_back({"scope", "FLOPs", "share", "parameters", "bytes", "largest activation"});
  uint64_t parameters = 0, bytes = 0;
  for (const ScopeFlops& scope : flops.scopes) {
    rows.push_back({scope.scope.empty() ? "(top)" : printable(scope.scope), short_count_text(scope.flops),
                    share(scope.flops, flops.total), count_text(scope.parameters), size_text(scope.bytes),
                    shape_text(scope.largest)});
    parameters += scope.parameters;
    bytes += scope.bytes;
  }
  rows.push_back(
      {"total", short_count_text(flops.total), "100.0%", count_text(parameters), size_text(bytes), ""});
  std::array<size_t, 6> widths{};
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line = padded(row[0], widths[0]);
    for (size_t i = 1; i < 5; ++i) line += "  " + std::string(widths[i] - row[i].size(), ' ') + row[i];
    if (!row[5].empty()) line += "  " + row[5];
    out += line + "\n";
  }
  return out;
}

void note_flops(const Flops& flops, const Graph& graph, const GraphShapes& shapes) {
  constexpr size_t kMostNamed = 4;
  if (flops.loops) say_note("loops are counted once, as for one step");
  if (!flops.recursive.empty())
    say_note(quoted("function", flops.recursive) + " calls itself, and is counted once");
  std::map<std::string, uint64_t> others = flops.not_counted;
  for (const auto& [op, count] : flops.unknown) {
    if ((others[op] -= count) == 0) others.erase(op);
  }
  if (!others.empty()) say_note("not counted: " + ops_text(others));
  if (flops.unknown.empty()) return;
  std::string hint;
  for (size_t i = 0; i < flops.unknown_from.size() && i < kMostNamed; ++i) {
    const auto& [node, output] = flops.unknown_from[i];
    const Shape shape = shapes.shape(node, output);
    hint += (i == 0 ? "--input '" : " --input '") + printable(graph.name(node)) +
            (output == 0 ? "" : ":" + std::to_string(output)) + "=" + (shape ? shape_text(shape) : "[..]") +
            "'";
  }
  if (flops.unknown_from.size() > kMostNamed)
    hint += " and " + std::to_string(flops.unknown_from.size() - kMostNamed) + " more";
  say_note("not counted, as sizes are not known: " + ops_text(flops.unknown) +
           (hint.empty() ? "" : "; hint: " + hint + ", with numbers"));
}

}  // namespace gedit
