// Signatures in the object graph of a TF2 SavedModel: a wrapper function and its object under `signatures`,
// which is where tf.saved_model.load finds them (python/saved_model/signature_serialization.py,
// function_deserialization.py).
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "edit/objects/structured_value.h"
#include "graph/library.h"
#include "model/saved_objects.h"
#include "ops/registry.h"

namespace gedit {

// Registers the function `name`, which takes the inputs and then what it captures, and returns the outputs,
// each in the order of their keys, as signature `key`.
void add_signature_object(SavedObjects& objects, std::string_view key, std::string_view name,
                          std::vector<uint32_t> bound_inputs, const std::vector<SignatureTensor>& inputs,
                          const std::vector<SignatureTensor>& outputs);

void remove_signature_objects(SavedObjects& objects, const std::set<std::string, std::less<>>& keys);

void rename_signature_objects(SavedObjects& objects, const NameTable& keys);

// Renames inputs and outputs of a signature. A wrapper takes and returns tensors in the order of their names,
// and the graph calls it in that order: where the order changes, or something else calls the same function,
// the signature gets a wrapper of its own. Throws Error (kRefused) where its object is none that gedit knows.
void rename_signature_tensors(SavedObjects& objects, Library& library, Registry& ops,
                              const std::shared_ptr<Arena>& arena, std::string_view key,
                              const NameTable& inputs, const NameTable& outputs);

}  // namespace gedit
