// Sizes and counts as people read and write them: 36.3 kB, 1,355, size>1M. A kilo is 1000, in and out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gedit {

std::string size_text(uint64_t bytes);                              // 512 B, 36.3 kB, 97.1 MB, 2.31 GB
std::string count_text(uint64_t number);                            // 1,355
std::string count_text(uint64_t number, std::string_view noun);     // 1 node, 1,355 nodes
std::string counted(uint64_t number, std::string_view noun);        // 1 node, 1355 nodes
std::string counted_or_no(uint64_t number, std::string_view noun);  // no nodes, 1 node, 1355 nodes
std::string short_count_text(uint64_t number);                      // 355, 1.36 k, 97.1 M, 231 G
std::optional<uint64_t> parse_size(std::string_view text);          // 4096, 1K, 1.5M, 2G, with or without B

}  // namespace gedit
