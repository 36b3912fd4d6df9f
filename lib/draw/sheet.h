// One graph as it is drawn, the main one or a function's body: scopes within scopes, what has a box of its
// own and what sits in another's, who reads whom. Nothing is opened, closed or placed yet.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/arena.h"
#include "graph/edges.h"
#include "graph/graph.h"
#include "model/model.h"
#include "ops/registry.h"
#include "select/selection.h"
#include "shape/like_nodes.h"

namespace gedit {

enum class Seat : uint8_t {
  kScope,  // no node: what is below a name
  kGroup,  // no node either: a run of the many that lie in one scope
  kBox,    // a node with a box of its own
  kConst,  // a Const, or a variable handed to a function: a row in the box of each node that reads it
  kRead,   // an Identity or ReadVariableOp of a variable or Const: readers have an edge from what it reads
  kPart,   // of a variable or table: what initializes it, a question whether it is; in the box of `host`
};

enum class Look : uint8_t { kPlain, kState, kInput, kOutput };

constexpr uint32_t kNoItem = 0xffffffff;

struct Item {
  uint32_t parent = 0;  // the root's is itself
  uint32_t size = 1;    // items from here on that are in it, itself included
  Seat seat = Seat::kBox;
  Look look = Look::kPlain;
  // A scope that has no box, since there is at most one box in it: that is shown in its place.
  bool through = false;
  bool self = false;                 // a node that is named like the scope it is in; its name is empty
  uint16_t like = LikeNodes::kNone;  // of a node: its number in Sheet::like
  std::string_view name;             // behind its parent's and a slash
  std::string_view op, device;
  std::string_view bytes;   // of a node: its NodeDef; empty for arguments and results of a function
  uint32_t host = kNoItem;  // of kRead and kPart: where it sits; of a Const read by one other: that
  uint32_t nodes = 0;       // in it, itself included
  uint32_t boxes = 0;       // those of them with a box of their own
  uint32_t fold = kNoItem;  // of a block: the first one like it, maybe itself
  uint32_t blocks = 0;      // of the first: how many they are
  uint32_t type = 0;        // of output 0: index into types
  bool hit = true;          // by the selector, where there is one; else it only stands beside
};

struct SheetEdge {
  uint32_t from, to;  // items with seat kBox; `from` may be a kConst
  uint32_t type;      // of the tensor: index into types
  bool control;
};

struct Sheet {
  std::string function;                   // empty: the main graph
  uint32_t entry = 0;                     // of a function that a signature calls: which of them, from 1 on
  std::vector<Item> items;                // a scope before what is in it; the first is the root
  std::vector<SheetEdge> edges;           // by `to`, in the order of its inputs
  std::vector<std::string> types;         // `float32[?,4]`; the first is empty: not known
  std::shared_ptr<const LikeNodes> like;  // of the graph
  std::shared_ptr<Arena> names = std::make_shared<Arena>();  // of groups, which Item::name views

  uint32_t boxes() const { return items[0].boxes; }
};

// The full name of a node, or of a scope without its slash.
std::string item_path(const Sheet& sheet, uint32_t item);

struct SheetOptions {
  // What is drawn, with one step around it; everything where nothing is given.
  const Selection* selection = nullptr;
  // A scope with more boxes and scopes right in it than this gets them in groups; 0: none does.
  uint32_t most_children = 0;
};

// The main graph first, then the functions in the order of the library; with a selection only those that it
// hits. Linear, about 2 us a node. The model outlives the sheets. Throws Malformed, Error.
std::vector<Sheet> make_sheets(Model& model, Registry& ops, const SheetOptions& options = {});

}  // namespace gedit
