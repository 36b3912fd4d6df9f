// What surrounds the graph in a MetaGraphDef or SavedModel: that what it names is there.
#pragma once

#include <string_view>

#include "check/checked_graph.h"
#include "check/functions.h"
#include "checkpoint/bundle.h"
#include "model/model.h"

namespace gedit {

// Rules variable, collection, context, queue-runner, saver (definitions), signature, asset, init-op.
void check_surroundings(const CheckedGraph& in, const Model& model, const MetaGraph& meta, Report& report);

// Rule object-graph.
void check_object_graph(const CheckedGraph& in, const MetaGraph& meta, const Functions& functions,
                        Report& report);

// Rule saver: as many keys as dtypes and tensors, in the main graph or a function. With `values`, the rule
// checkpoint: each key that is restored (by nodes of `restoring`, where it is given) is there with the node's
// dtype, and with the shape of its variable.
void check_saver_nodes(const CheckedGraph& in, const Checkpoint* values, const NodeSet* only,
                       const NodeSet* restoring, Report& report);

// Rule checkpoint: the data files that the index names are there, and as long as it says. Their bytes are not
// read: `gedit checkpoint verify` compares checksums.
void check_data_files(const Checkpoint& values, Report& report);

// Rule unsafe-file: entries of a SavedModel's folder that lead out of it or are no files, and assets whose
// path lies outside of the model's folder.
void check_files(const Model& model, const MetaGraph& meta, Report& report);

// How many objects of the object graph are variables (SavedVariable).
size_t saved_variables(const MetaGraph& meta);

// Rule checkpoint for variables that are objects (TensorFlow 2): those whose key is in the checkpoint have
// the dtype and shape that it has there.
void check_saved_variables(Model& model, size_t meta, Registry& ops, const Checkpoint& values,
                           Report& report);

}  // namespace gedit
