// Who reads what in one graph, and which nodes sit in the boxes of others.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "draw/sheet.h"
#include "graph/index.h"
#include "graph/op_defs.h"
#include "shape/infer.h"

namespace gedit {

// A node by its id, behind the nodes the arguments of a function, behind those its results.
struct Vertex {
  std::string_view name, op, device;
  std::string_view bytes;  // its NodeDef; empty for arguments and results
};

struct Wiring {
  struct Input {
    uint32_t from;
    uint32_t type;  // index into Sheet::types
    bool control;
  };
  std::vector<Vertex> vertices;
  std::vector<Input> inputs;     // of all vertices, one after the other
  std::vector<uint32_t> begins;  // where those of each vertex begin, and the end
  std::vector<uint32_t> type;    // of each vertex: that of its output 0
  std::vector<Seat> seat;        // of each vertex; removed nodes have kScope, which is none
  std::vector<uint32_t> host;    // of kRead: the vertex it reads; of kPart: the variable or table
};

// Of a graph, and which of its nodes are alike. `initializers`: names of nodes that initialize a variable,
// from VariableDefs; `own`: nodes that get a box whatever they are; `shapes`: of tensors of which the file
// says nothing, or null. `types` gains the texts.
Wiring wire(const GraphIndex& index, const LikeNodes& like, OpDefs& ops,
            const std::vector<std::string_view>& initializers, const NodeSet* own, const GraphShapes* shapes,
            std::vector<std::string>& types);

}  // namespace gedit
