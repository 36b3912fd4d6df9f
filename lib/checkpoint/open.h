// From what a person types to a checkpoint: prefixes, their files, directories, state files, SavedModels, V1
// files and patterns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/bundle.h"

namespace gedit {

// Where a checkpoint is.
struct Location {
  std::string prefix;
  std::vector<std::string> v1_files{};  // of a V1 checkpoint; empty: V2
  std::string warning{};                // something to tell, or empty
};

// CKPT may be a prefix, its `.index`, `.meta` or a data file, a directory or `checkpoint` state file (the
// latest one; absolute paths that are gone are looked up in the directory, with a warning), a SavedModel
// (directory or saved_model.pb), a V1 file or pattern. Nothing where it is none of these.
std::optional<Location> find_checkpoint(const std::string& operand);

// The same; throws Error (kInput), with the nearest prefix as a hint.
Location locate_checkpoint(const std::string& operand);

// Opens it; NAME.ckpt.gtxt is a listing of one. A warning, if any, goes to `warnings`.
Checkpoint open_checkpoint(const std::string& operand, std::vector<std::string>* warnings = nullptr);
Checkpoint open_checkpoint(const Location& location);

// PREFIX.data-SSSSS-of-NNNNN -> PREFIX; nothing for other names.
std::optional<std::string> prefix_of_data_file(std::string_view path);

}  // namespace gedit
