// The scopes of a sheet: names taken apart at their slashes.
#pragma once

#include <cstdint>
#include <vector>

#include "draw/sheet.h"
#include "draw/wiring.h"

namespace gedit {

// Puts the vertices that `keep` marks into sheet.items, children by name, numbers in them as numbers: `b_2`
// before `b_10`. Gives the item of each vertex, kNoItem for the others. Names are taken apart up to 64 levels
// deep; what is behind is one name.
std::vector<uint32_t> plant(const Wiring& wiring, const std::vector<bool>& keep, Sheet& sheet);

// Sets size and boxes of all items, and which scopes are shown through.
void measure(std::vector<Item>& items);

// Puts what lies right in a scope into groups where it is more than `most` boxes and scopes; folded blocks
// count once. Groups hold neighbours of `order`, by item: its place in the file.
void group(Sheet& sheet, uint32_t most, const std::vector<uint32_t>& order,
           std::vector<uint32_t>& item_of_vertex);

}  // namespace gedit
