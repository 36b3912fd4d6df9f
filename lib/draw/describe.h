// Words in a drawing: what stands on lines, in rows, in short.
#pragma once

#include <string>
#include <string_view>

#include "draw/drawing.h"

namespace gedit {

// `begin...end` where it is longer than this many bytes; characters stay whole.
std::string shortened(std::string_view text, size_t longest);

// For text between the tags of HTML and XML.
std::string escaped_markup(std::string_view text);

// `float32[?,4]`, `3 tensors`; nothing for control alone, or where nothing is known.
std::string line_text(const Sheet& sheet, const Drawing::Line& line);

// `shape int32[2] = [1,-1]`: the value where it has four elements or fewer.
std::string constant_text(const Sheet& sheet, uint32_t item);

// The attributes of a node, a line each: `T: DT_FLOAT`; long tensors are measured, `_output_shapes` is left
// out.
std::string attributes_text(std::string_view node_def);

}  // namespace gedit
