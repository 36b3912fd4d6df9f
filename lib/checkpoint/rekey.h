// Keys by name, as tf.compat.v1.train.Saver has them, and by object, as tf.train.Checkpoint: one made of the
// other. The object graph of a checkpoint says how each object's value is called.
// docs/rules.md#checkpoint-rekey
#pragma once

#include <map>
#include <string>
#include <vector>

#include "checkpoint/bundle.h"
#include "checkpoint/edit.h"

namespace gedit {

// What a person says besides: the object's path or key there, the name there; exactly.
using ObjectNames = std::map<std::string, std::string, std::less<>>;

// An object-based checkpoint with the names of its values as keys and without its object graph; `names` has
// OBJECT -> NAME. What has no name (state of Python) goes, and is told in `left_out`. Of equal values of one
// name there is one. Throws Error (kRefused) where two others have one name, or an OBJECT is none.
Checkpoint keyed_by_name(Checkpoint checkpoint, const ObjectNames& names, std::vector<std::string>& left_out,
                         KeyChanges* changes = nullptr);

struct KeyedByObject {
  Checkpoint checkpoint;
  std::vector<std::string> missing;     // keys that no name gives a value
  std::vector<std::string> unexpected;  // names that no object has
};

// The other way: `names` has NAME -> OBJECT. Keys, and the object graph, are those of `like`, whose state of
// Python and save counter are taken, too; objects without a value go from the graph. Throws Error (kRefused)
// where dtype or shape are other ones, two objects whose values differ have one name, or a NAME or OBJECT is
// not there.
KeyedByObject keyed_by_object(Checkpoint checkpoint, const Checkpoint& like, const ObjectNames& names,
                              KeyChanges* changes = nullptr);

}  // namespace gedit
