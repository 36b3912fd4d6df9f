// `gedit set --shape`: another shape of a placeholder or variable (docs/rules.md#set).
#pragma once

#include <string>

#include "edit/changing/follow_shapes.h"
#include "edit/changing/setting.h"

namespace gedit {

// `text`: T=SHAPE. Signatures follow; constants that hold the old size are warned of. With `following` it is
// told, and what lies downstream is its matter. Throws Error: kUsage for what has not that form, kRefused
// where the node is not there or has no shape of its own.
void set_shape(Setting& setting, const std::string& text, ShapeFollowing* following);

}  // namespace gedit
