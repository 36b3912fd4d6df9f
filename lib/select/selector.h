// The selector grammar: what a person writes to mean a set of nodes (docs/rules.md#selectors).
//
//   expression  any {',' any}        or                 any   = term {'&' term}      and
//   term        '!' term | '(' expression ')' | path | atom       path  = atom '..' atom
//   atom        [N'+'] primary ['+'[N]]                            N steps against, along the edges; no
//   number: all primary     glob | scope'/' | 're:'regex | 'op:'glob | 'attr:'KEY['='VALUE] | 'dtype:'TYPE |
//   'device:'glob |
//               'shape:'SHAPE | 'rank:'N | 'size'('>'|'>='|'<'|'<=')SIZE | 'var:'['trainable'] |
//               'collection:'KEY | 'fn:'glob'//'primary | FUNCTION'//'primary | '@'file | '"'any text'"'
//
// A word ends at a blank, a comma, `&`, `|` or `)` outside of brackets; in double quotes everything is
// literal, but for the escapes of listings (docs/listing.md). A regular expression ends where a word would,
// so one with blanks or a bare comma stands in quotes, in which a backslash stays one: re:"a, b".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gedit {

struct Selector {
  enum class Is {
    kName,   // glob, text: pattern
    kScope,  // text: the scope without its slash (may be a glob)
    kRegex,  // searched
    kOp,     // glob
    kAttr,   // key, text: value
    kDtype,
    kDevice,      // glob
    kSize,        // number, compare
    kShape,       // text, as parse_shape() reads it
    kRank,        // number
    kVariable,    // text: "" or "trainable"
    kCollection,  // glob
    kFunction,    // key: glob of function names, one operand that is evaluated in their bodies
    kWalk,        // operand with back and forward steps
    kPath,        // two operands
    kAnd,
    kOr,  // operands
    kNot,
  };
  Is is = Is::kName;
  std::string written;  // as the user wrote it, for messages
  std::string text, key;
  bool literal = false;    // quoted: no glob
  bool has_value = false;  // kAttr
  char compare = '>';      // kSize: '>' or '<'
  bool or_equal = false;
  uint64_t number = 0;
  uint32_t back = 0, forward = 0;  // kWalk
  std::vector<Selector> operands;
};

// Throws Error (kUsage; kInput where an @file cannot be read) that shows the place: `selector 'a &': nothing
// after '&'`.
Selector parse_selector(std::string_view text);

// A selector that means nothing but the node of this name: the name, in double quotes where it would be read
// as something else or obeyed by a terminal. `function` is empty for the main graph.
std::string selector_of(std::string_view function, std::string_view name);

}  // namespace gedit
