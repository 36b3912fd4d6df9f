// Which file of a training is meant where a graph is needed and a checkpoint or its folder was named.
#pragma once

#include <string>

namespace gedit {

struct GraphPath {
  std::string path;
  std::string note{};  // to be told where another file is taken than was named
};

// `path` itself where there is such a file or it is a SavedModel's folder. model.ckpt-100 means
// model.ckpt-100.meta; model.ckpt, of which there is nothing, and a folder mean the .meta that they have.
// Throws Error (kInput) where they have several, or where the file is a checkpoint's and its .meta is
// there, with the hint of what there is.
GraphPath graph_path(const std::string& path);

}  // namespace gedit
