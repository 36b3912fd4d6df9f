// A message is a chain: where a field begins, only the one before it tells. So that all cores can walk,
// pieces of it are begun where something looks like a node; whoever comes from before takes what such a piece
// found only where he arrives at just its beginning, and walks on himself otherwise.
#include "graph/piece_walk.h"

#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "base/wire.h"
#include "graph/node.h"

namespace gedit {
namespace {

constexpr size_t kWalkedBytes = size_t{512} << 10;
constexpr size_t kSearched = size_t{1} << 14;  // bytes of a piece in which a node is looked for
constexpr int kChain = 6;                      // so many nodes in a row are hardly chance

// As many whatever the number of threads: what was used before a fault is the same.
size_t walked_pieces(std::string_view message) {
  return message.size() >= 4 * kWalkedBytes ? pieces_of(message.size(), kWalkedBytes) : 0;
}

bool looks_like_nodes(std::string_view fields_from, char tag) {
  Fields fields(fields_from);
  for (int i = 0; i < kChain; ++i) {
    if (!fields.next() || fields->raw.front() != tag || fields->value.empty() ||
        fields->value.front() != static_cast<char>(node_field::kName << 3 | 2))
      return false;
  }
  return true;
}

// What piece `number` holds, if it is nodes alone; empty where nothing is known of it.
std::string_view make_piece(std::string_view message, uint32_t node_field, size_t number, size_t place,
                            const PieceWalk& walk) {
  const char tag = static_cast<char>(node_field << 3 | 2);
  std::string_view rest = message.substr(number * kWalkedBytes);
  const char* const stop = rest.data() + std::min(kWalkedBytes, rest.size());
  const size_t searched = std::min(number == 0 ? 1 : kSearched, rest.size());
  try {
    for (size_t i = 0; i < searched; ++i, rest.remove_prefix(1)) {
      if (rest.front() != tag || !looks_like_nodes(rest, tag)) continue;
      return {rest.data(), static_cast<size_t>(walk.make(place, rest.data(), stop) - rest.data())};
    }
  } catch (const Malformed&) {  // no node began there, or one is broken, which is told in its turn
  }
  return {};
}

}  // namespace

size_t walk_places(std::string_view message) { return places_for(walked_pieces(message)); }

void walk_in_pieces(std::string_view message, uint32_t node_field, const PieceWalk& walk) {
  const char* at = message.data();
  const size_t count = walked_pieces(message);
  // A few pieces at a time: what they found lies in the caches when it is put together.
  Places<std::string_view> pieces(places_for(count));
  in_order(
      count, [&](size_t i, size_t place) { pieces[place] = make_piece(message, node_field, i, place, walk); },
      [&](size_t place) {
        const std::string_view piece = pieces[place];
        if (!piece.empty() && at < piece.data()) at = walk.walk(at, piece.data());
        const bool right = !piece.empty() && at == piece.data();
        walk.use(place, right ? piece : std::string_view());
        if (right) at += piece.size();
      });
  walk.walk(at, message.data() + message.size());
}

}  // namespace gedit
