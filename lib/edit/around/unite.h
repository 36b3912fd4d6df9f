// Collections of several graphs as one: docs/rules.md#merge-collections.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace gedit {

// A graph whose names are those of the united one.
struct UnitedGraph {
  const MetaGraph* meta;
  std::string_view path;  // for messages
};

struct UniteRequest {
  std::vector<UnitedGraph> graphs;
  bool share = false;  // what two have is there once
  // Makes an operation that runs all of these, for what is run under `key`; returns its name.
  std::function<std::string(std::string_view key, const std::vector<std::string>& operations)> run_all;
};

// What a loader runs for each graph, in order, of those for which it runs anything (model/init_op.h).
std::vector<std::string> loaders_run(const UniteRequest& request, std::string_view from);

// Entries of collection_def, in the order of their first graphs. What one graph alone has keeps its bytes.
// Throws Error (kRefused) where two collections of one key hold different things.
std::vector<std::string> united_collections(const UniteRequest& request, std::vector<std::string>& warnings);

}  // namespace gedit
