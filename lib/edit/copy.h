// gedit copy: a network once more under a new scope, with variables, savers, initializers and contexts of its
// own.
//
// The copies are the originals' bytes written through a mapping (copying/mapping.h); what is added besides is
// a handful of new nodes (Placeholders, StopGradients, restore operations) and longer lists in the savers,
// init groups and collections.
#pragma once

#include "edit/copying/request.h"
#include "model/model.h"
#include "ops/registry.h"

namespace gedit {

// Edits the selected MetaGraph. The copies are written when the model is: until then it stays where it is and
// `ops` lives. Throws Error (kUsage, kRefused); the model is then not to be used any more.
CopyResult copy(Model& model, Registry& ops, const CopyRequest& request);

}  // namespace gedit
