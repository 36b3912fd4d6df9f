// What the shapes of a graph's tensors tell its rules (docs/rules.md#optimize-fold,
// docs/tensorflow.md#stated-shapes).
#pragma once

#include "optimize/subject.h"

namespace gedit::optimizing {

// Puts the net into `graph`, infers, and fills in what is known of shapes. Whether any node asks for that.
bool learn_shapes(Subject& subject, Graph& graph, Registry& ops);

}  // namespace gedit::optimizing
