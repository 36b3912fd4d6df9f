// Text for people: columns, types, and prose as it stands in the source, where lines end with the page.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dtype.h"
#include "graph/types.h"

namespace gedit {

// As wide as `width` columns at least.
std::string padded(std::string_view text, size_t width);

std::string type_text(const std::optional<DType>& dtype, const Shape& shape);  // float32[?,3]

// One line: words with one blank between them.
std::string one_line(std::string_view text);

// Without the ends of lines at both ends.
std::string trimmed(std::string_view text);

// The lines of each paragraph as one; an empty line stands between paragraphs, and lines that begin with a
// blank stay as they are. Trimmed.
std::string paragraphs(std::string_view text);

// The lines of text, without their ends.
std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace gedit
