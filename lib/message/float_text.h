// Floating point numbers in decimal digits, as protobuf's languages write them.
#pragma once

#include <string>
#include <string_view>

namespace gedit {

// As C++ does, in text and in JSON: six digits, nine where six are another number (15 and 17). `inf`, `nan`.
void append_short_float(std::string& out, float value);
void append_short_double(std::string& out, double value);

// As Python does, its repr: the fewest digits that are this number, `1.0`, `1e-05`.
void append_python_float(std::string& out, float value);
void append_python_double(std::string& out, double value);

// The number that `text`, digits of JSON's or protobuf's grammar, is nearest to.
double read_double(std::string_view text);

}  // namespace gedit
