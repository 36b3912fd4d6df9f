// gedit rename: other names for nodes, scopes and functions, and everything that names them follows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "edit/basis/changes.h"
#include "edit/savers/checkpoint_keys.h"
#include "model/model.h"
#include "ops/registry.h"

namespace gedit {

struct RenameRequest {
  // `a=b`, `a/=b/`, `a/=`, `/=b/`, `FN//a=b`, `fn:F=G`, `@file` with one a line. All apply at once.
  std::vector<std::string> pairs;
  // `s/RE/REPL/[g]` with any delimiter: RE2 syntax, \1 and & as in sed. In order, after the pairs.
  std::vector<std::string> expressions;
  bool want_changes = false;
};

// The checkpoint keys that are the name of a variable that the request renames, and what they become: for a
// rename together with its checkpoint. To be asked before rename().
KeyMap renamed_keys(Model& model, const RenameRequest& request);

// Renames in the selected MetaGraph. Throws Error: kUsage for a malformed pair, kRefused where a pair hits
// nothing, a name is taken or is no node name.
Changes rename(Model& model, Registry& ops, const RenameRequest& request);

}  // namespace gedit
