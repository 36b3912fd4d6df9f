// Checkpoint keys that follow an edit of the graph: the copies' values beside the originals', renamed
// variables under their new names. Values stay where they are; entries share them.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "checkpoint/bundle.h"
#include "checkpoint/object_edits.h"
#include "model/model.h"

namespace gedit {

// Old key -> new key.
using KeyMap = std::map<std::string, std::string>;

// `key 'w' is not in checkpoint 'dqn'`, with the way to see which are.
Error missing_key(std::string_view key, std::string_view checkpoint_name);

// Adds each new key with the bytes of the old one. Throws Error (kRefused): `tensor 'w': no such tensor in
// checkpoint 'dqn'`, or where a new key is taken.
void add_keys(Checkpoint& checkpoint, const KeyMap& keys, std::string_view checkpoint_name);

// The object graph of the checkpoint, where it has one, knows the copies, too. Throws as copy_values().
void add_objects(Checkpoint& checkpoint, const std::vector<CopiedValue>& values);

// That the saver of the selected graph finds all that it restores. Throws Error (kRefused) as add_keys().
void require_keys(Model& model, const Checkpoint& checkpoint, std::string_view checkpoint_name);

// Renames keys; those that the checkpoint does not have are passed over. Throws Error (kRefused) where a new
// one is taken.
void rename_keys(Checkpoint& checkpoint, const KeyMap& keys);

// In every saver's Consts of the selected graph: keys become what the map says. Restore and RestoreSlice
// nodes, which read checkpoints of version 1 alone, become RestoreV2, which reads both: for a model beside
// which a checkpoint is written.
void rename_saver_keys(Model& model, const KeyMap& keys);

// Where the values of the model's variables are: `named` if it is given, else the variables of a SavedModel's
// folder; empty where it has none.
std::string checkpoint_of(const Model& model, const std::string& named);

}  // namespace gedit
