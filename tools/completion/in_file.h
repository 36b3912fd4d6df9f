// What a graph or checkpoint that stands on the line has to offer. All of these stop early: what takes long
// to find is not offered, and a text that takes long to read offers nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "completion/candidates.h"
#include "completion/line.h"
#include "model/model.h"

namespace gedit {

// A graph that is on the line: what it holds is called `prefix`...
struct GraphOnLine {
  std::string prefix;  // `NAME/` of NAME=FILE, else empty
  Model model;
};

// Those that can be read at once. Throws nothing.
std::vector<GraphOnLine> graphs_of(const std::vector<FileOnLine>& files);

// Names that continue `start`, a scope at a time: `conv1/` for all that is below conv1. With `scopes` nothing
// but scopes, without the slash. Each stands behind `before`.
class NameOffer {
 public:
  NameOffer(Candidates& candidates, std::string before, std::string start, bool scopes = false)
      : candidates_(candidates), before_(std::move(before)), start_(std::move(start)), scopes_(scopes) {}

  void name(std::string_view name);
  bool enough() { return candidates_.enough(); }

  const std::string& start() const { return start_; }
  bool scopes() const { return scopes_; }
  // The same for names below `inner`, of which `start` is typed.
  NameOffer below(const std::string& inner, std::string start) const {
    return {candidates_, before_ + inner, std::move(start), scopes_};
  }

 private:
  Candidates& candidates_;
  std::string before_, start_;
  bool scopes_;
  std::string last_;  // what was offered for the name before
};

void offer_nodes(const GraphOnLine& graph, NameOffer& offer);  // FUNCTION//node, too
void offer_ops(const GraphOnLine& graph, Candidates& candidates, const std::string& before);
void offer_attrs(const GraphOnLine& graph, Candidates& candidates, const std::string& before);
void offer_devices(const GraphOnLine& graph, Candidates& candidates, const std::string& before);
void offer_functions(const GraphOnLine& graph, Candidates& candidates, const std::string& before);
void offer_collections(const GraphOnLine& graph, Candidates& candidates, const std::string& before);
void offer_signatures(const GraphOnLine& graph, Candidates& candidates, const std::string& before);
void offer_tags(const GraphOnLine& graph, Candidates& candidates, const std::string& before);

// Tensors of the checkpoint `path`.
void offer_keys(const std::string& path, NameOffer& offer);

}  // namespace gedit
