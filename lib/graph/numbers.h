// Numbers as the listing writes them: the shortest digits that read back to the same bits, whatever the bits.
#pragma once

#include <cstdint>
#include <string>

#include "graph/scanner.h"

namespace gedit {

void print_int(std::string& out, int64_t value);
void print_uint(std::string& out, uint64_t value);

// Floating point always has a point, an exponent, `inf` or `nan`; NaNs other than the usual one are
// `nan(0xBITS)`.
void print_float32(std::string& out, uint32_t bits);
void print_float64(std::string& out, uint64_t bits);
void print_half(std::string& out, uint16_t bits);
void print_bfloat16(std::string& out, uint16_t bits);

// Whether the bits are a NaN other than the one that is written `nan`.
bool odd_nan32(uint32_t bits);
bool odd_nan64(uint64_t bits);
bool odd_nan_half(uint16_t bits);
bool odd_nan_bfloat16(uint16_t bits);

// The next token as a number; throws the scanner's Error where it is none, or does not fit. Where a floating
// point number is wanted, an integer is read as one.
int64_t scan_int(Scanner& scanner, int64_t least, int64_t most);
uint64_t scan_uint(Scanner& scanner, uint64_t most);
uint32_t scan_float32(Scanner& scanner);
uint64_t scan_float64(Scanner& scanner);
uint16_t scan_half(Scanner& scanner);
uint16_t scan_bfloat16(Scanner& scanner);

}  // namespace gedit
