// Constants as numbers of fewer bits, cast back where they are read: docs/rules.md#cast-constants
#pragma once

#include <functional>
#include <string>

#include "edit/basis/changes.h"
#include "edit/basis/names.h"
#include "graph/graph.h"

namespace gedit {

// The Const `id` becomes a Cast of its name, which reads a new Const of the numbers as `to`. False where it
// holds none that become narrower. Numbers that become infinite are told in a warning; `where` is
// `FUNCTION//` or empty. Values stay where they lie and are cast while they are written.
bool cast_constant(Graph& graph, NodeId id, DType to, NewNames& names, const std::string& where,
                   Changes& changes);

// In a decoded body what read `NODE:output:0` of these nodes reads `NODE:y:0`.
void read_casts(Graph& body, const std::function<bool(std::string_view node)>& is_cast);

}  // namespace gedit
