// Collections and init groups that know the copies, too: docs/rules.md#copy-collections,
// docs/rules.md#copy-init-groups.
#pragma once

#include "edit/copying/mapping.h"

namespace gedit {

void extend_collections(const Facts& facts, const CopyMapping& mapping, CopyChanges& result);
void extend_init_groups(const Facts& facts, const CopyMapping& mapping, CopyChanges& result);
// Behind extend_collections().
void extend_main_op(const Facts& facts, CopyMapping& mapping, CopyChanges& result);

}  // namespace gedit
