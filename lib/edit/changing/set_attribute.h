// `gedit set --attr`: an attribute of nodes given or taken away (docs/rules.md#set).
#pragma once

#include <string>

#include "edit/changing/setting.h"

namespace gedit {

// `text`: SEL:NAME=VALUE or SEL:NAME. Throws Error: kUsage for what has not that form, kRefused where no node
// hit has the attribute, or an op has none such or another type of it.
void set_attribute(Setting& setting, const std::string& text);

}  // namespace gedit
