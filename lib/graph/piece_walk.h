// A message of nodes gone over on all cores: where a node begins in each piece of it is guessed, and the
// guess is right if the fields before end there. So no thread has to read ahead for the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/wire.h"

namespace gedit {

struct PieceWalk {
  // Goes over the nodes from `from` on to the first field that begins at `stop` or behind it, or is no node,
  // and gives where that begins. Called by several threads, for places of their own; Malformed is a wrong
  // guess.
  std::function<const char*(size_t place, const char* from, const char* stop)> make;
  // What was made of these fields comes next; empty: nothing was made in that place, or of no fields.
  std::function<void(size_t place, std::string_view fields)> use;
  // Goes over fields of all kinds from `from` on to the first that begins at `stop` or behind it, and gives
  // where that begins. Called in this thread, in order with use().
  std::function<const char*(const char* from, const char* stop)> walk;
};

// Calls use(field) for the fields from `from` on, in a message that ends at `end`, up to the first that
// begins at `stop` or behind it, or of which it says that it is none of these; and gives where that begins.
template <typename Use>
const char* walk_fields(const char* from, const char* stop, const char* end, Use use) {
  Fields fields({from, static_cast<size_t>(end - from)});
  while (from < stop && fields.next() && use(fields.field())) from = fields->raw.end();
  return from;
}

// So many places make() needs for such a message.
size_t walk_places(std::string_view message);

// Goes over all fields of `message`, of which those of number `node_field` are nodes.
void walk_in_pieces(std::string_view message, uint32_t node_field, const PieceWalk& walk);

}  // namespace gedit
