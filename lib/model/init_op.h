// The operation that fills tables when a SavedModel is loaded (docs/tensorflow.md#init-op): what a
// MetaGraphDef or GraphDef that becomes one must have, since loaders run nothing else.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"

namespace gedit {

namespace signature_key {
constexpr std::string_view kInit = "__saved_model_init_op", kTrain = "__saved_model_train_op";
}

// The node or tensor that an init or train signature names: its one output. Empty where it has none.
std::string_view operation_of_signature(std::string_view signature);

// What a loader runs when it loads the model, as it stands there; empty where nothing is named. It is looked
// for in signature __saved_model_init_op, then in the collections; `from`: in this one and those after it,
// as far as they are rows of what loaders run.
std::string_view loader_runs(const MetaGraph& meta, std::string_view from = signature_key::kInit);

struct InitOp {
  std::string operation;              // empty: there is none to be run, or one is there already
  size_t tables = 0;                  // initializers of tables that it runs
  bool added = false;                 // it is a new node
  std::vector<std::string> warnings;  // of initializers that cannot be run
};

// Names in collection saved_model_main_op an operation that runs the initializers of tables: those of
// collection table_initializer, else all that the graph has; calls of functions that run some; and those of
// local variables, which no checkpoint holds. `local_init_op` where it runs them, or a NoOp that runs nothing
// else, else a new NoOp. Initializers that restore from a checkpoint belong to savers; those that need a
// placeholder run for nobody. Nothing happens where an init op is named already, and in a graph whose nodes
// are yet to get other names.
InitOp give_init_op(MetaGraph& meta);

}  // namespace gedit
