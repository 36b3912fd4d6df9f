// Tensors inside functions that the object graph names: what a function captured for its gradient, which
// tf.saved_model.load looks for in the body (CapturedTensor; docs/tensorflow.md#object-graph).
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace gedit {

// By function; each `node:0`, as in a graph, where `node` may be an argument.
using CapturedTensors = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;

CapturedTensors captured_tensors(std::string_view object_graph);

// The object graph with `map(function, tensor)` in place of each.
using MapCaptured = std::function<std::string(std::string_view function, std::string_view tensor)>;
std::string with_captured_tensors(std::string_view object_graph, const MapCaptured& map);

}  // namespace gedit
