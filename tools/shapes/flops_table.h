// What `gedit shapes --flops` shows people.
#pragma once

#include <string>

#include "shape/flops.h"

namespace gedit {

std::string flops_table(const Flops& flops);
// What counts once or not at all, as notes on standard error; of unknown sizes, where they begin.
void note_flops(const Flops& flops, const Graph& graph, const GraphShapes& shapes);

}  // namespace gedit
