// Devices of a main graph and of its functions: docs/rules.md#clear-devices.
#pragma once

#include "edit/basis/changes.h"
#include "model/model.h"

namespace gedit {

// No node of the selected graph, nor of its functions, is on a device any more: ahead of an edit, so that
// what the edit makes of them is on none either.
Changes clear_devices(Model& model);

// Adds to `changes` what clear_devices() gave, of nodes that the edit left.
void add_cleared(const Model& model, const Changes& cleared, Changes& changes);

// Notes what an edit left on a device of a named job: only a cluster that has this job runs it.
void note_jobs(const Model& model, Changes& changes);

}  // namespace gedit
