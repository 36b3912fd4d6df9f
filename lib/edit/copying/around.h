// Collections and init groups that know the copies, too: command_reference, copy, rules 16 to 18.
#pragma once

#include "edit/copying/mapping.h"

namespace gedit {

void extend_collections(const Facts& facts, const CopyMapping& mapping, CopyResult& result);
void extend_init_groups(const Facts& facts, const CopyMapping& mapping, CopyResult& result);

}  // namespace gedit
