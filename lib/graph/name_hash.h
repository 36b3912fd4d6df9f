// Hash of a name, good in its upper and lower bits alike.
#pragma once

#include <cstdint>
#include <string_view>

namespace gedit {

uint64_t name_hash(std::string_view name);

}  // namespace gedit
