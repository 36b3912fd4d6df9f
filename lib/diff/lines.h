// What is compared line by line, as a listing writes it: what surrounds a graph, what functions hold besides
// nodes, the tensors of a checkpoint.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diff/diff.h"
#include "diff/scopes.h"
#include "graph/graph.h"
#include "model/kind.h"
#include "model/model.h"

namespace gedit {

// Versions, and of a MetaGraph collections, signatures, saver, assets, tags and object graph, as far as the
// other file is of a kind that holds them; names as they are in the second graph where `names` says so.
std::vector<std::string> surrounding_lines(const Model& model, Kind other, const RenamedScopes* names);

// The files of a SavedModel's assets that are there, each once: `file assets/vocab.txt 8 B crc32c 1a2b3c4d`.
std::vector<std::string> asset_file_lines(const Model& model);

// Gradients of a FunctionDefLibrary.
std::vector<std::string> gradient_lines(std::string_view library);

// Lines that only one side has, as often as it has them more, in the order of their files: those that went
// first.
std::vector<LoneLine> lone_lines(const std::vector<std::string>& before,
                                 const std::vector<std::string>& after);

// Arguments of a function, told by their places, that have another name in the second graph; none where it
// has more or fewer.
struct RenamedArgument {
  std::string_view from, to;
};
std::vector<RenamedArgument> renamed_arguments(const Graph& before, const Graph& after);

// What differs between two functions of one name besides their nodes, which have `names` in the second:
// `ret y: a:z:0 -> b:z:0`, `signature`.
// Arguments are told by their places; with `renumbered` numbers in their names do not count.
std::vector<std::string> function_differences(const Graph& before, const Graph& after,
                                              const RenamedScopes& names, bool renumbered,
                                              const DiffOptions& options);

}  // namespace gedit
