// Edits of checkpoints: rename, copy, drop, merge. They change the entries alone; values stay where they are.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/bundle.h"
#include "checkpoint/renaming.h"

namespace gedit {

// What an edit did, in the order of names; told to whoever asks for it.
struct KeyChange {
  std::string before, after;  // one of them empty: the key is new, or went
};
using KeyChanges = std::vector<KeyChange>;

// Renames tensors; in an object-based checkpoint the objects along the paths too. Throws Error (kRefused)
// where a pair hits nothing or a name is taken.
void rename_tensors(Checkpoint& checkpoint, Renaming& renaming, KeyChanges* changes = nullptr);

// Adds tensors under new names that share the bytes of the old ones. Throws as above. In an object-based
// checkpoint the new keys belong to no object.
void copy_tensors(Checkpoint& checkpoint, const std::vector<NamePair>& pairs, KeyChanges* changes = nullptr);

// Takes away the tensors that are selected, by position. Never the object graph, which is mended instead.
void drop_tensors(Checkpoint& checkpoint, const std::vector<bool>& selected, KeyChanges* changes = nullptr);

enum class OnConflict : uint8_t { kError, kFirst, kLast };

struct MergeInput {
  std::string name;  // `NAME/` comes before each key; empty: nothing does
  Checkpoint checkpoint;
};

// The union. Slices of one tensor in several inputs come together. Two object-based inputs need names: their
// roots become children of a new root. Throws Error (kRefused) for a tensor that is there twice.
Checkpoint merge_checkpoints(std::vector<MergeInput> inputs, OnConflict on_conflict);

// `did you mean 'x'?`: the key, object or (where `name` ends in a slash) scope that is nearest; or empty.
std::string name_hint(const Checkpoint& checkpoint, std::string_view name);

// Bytes that entries point at, those that several share counted once.
uint64_t referenced_bytes(const Checkpoint& checkpoint);

// `tensor 'NAME': no such tensor; hint: did you mean 'x'?`, in the checkpoint. In an object-based one NAME
// may be the path of an object with one value.
const Tensor& require_tensor(const Checkpoint& checkpoint, std::string_view name);

}  // namespace gedit
