// The functions of a graph, taken apart when inference looks into them.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/library.h"
#include "shape/walk.h"

namespace gedit::shaping {

// A function taken apart for inference.
struct Body {
  explicit Body(Function& function);

  Place place() const { return {function.body, *names, edges, *like, &arguments, function.name}; }

  Function& function;
  std::unique_ptr<Names> names;
  Edges edges;
  std::unique_ptr<const LikeNodes> like;
  std::unordered_map<std::string_view, uint32_t> arguments;
  std::vector<std::string_view> results;  // as written: what each output is
  // By argument the TensorShapeProto that the function was made for; views without data where there is none.
  std::vector<std::string_view> declared;
  bool has_declared = false;
  bool plain = true;  // every argument is one tensor

 private:
  void take_declared(std::string_view entry);
};

class Bodies {
 public:
  explicit Bodies(const Graph& graph);

  Library& library() { return library_; }
  bool has(std::string_view name) const { return by_name_.contains(name); }
  // Null where there is no such function.
  Body* find(std::string_view name);
  Body& at(size_t index);  // by position in the library

  // The functions that a node calls, in their order; one that is called by its op may not be there.
  static std::vector<std::string_view> called(const Subject& node, const OpInfo& info);
  // By position: what no node of a function calls.
  std::vector<bool> called_by_none(OpInfos& infos, Dims& dims);

 private:
  Library library_;
  std::unordered_map<std::string_view, size_t> by_name_;  // names as the library has them
  std::vector<std::unique_ptr<Body>> bodies_;
};

}  // namespace gedit::shaping
