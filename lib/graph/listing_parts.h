// What both nodes and functions are printed of in a listing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graph/listing_map.h"
#include "graph/listing_text.h"

namespace gedit {

void print_dtype(std::string& out, uint64_t number);

// `{a: 1, b: 2}` with a blank before it; nothing for an empty map. `depth`: of functions in attributes.
void print_attrs(std::string& out, StringMap& attrs, bool full, int depth);

// ` | TEXT`, where fields of a message are left that have no place in a line.
void print_rest(std::string& out, TextMessage type, std::string_view rest);

}  // namespace gedit
