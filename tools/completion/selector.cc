#include "completion/selector.h"

#include <array>
#include <functional>

#include "graph/dtype.h"

namespace gedit {
namespace {

// Where the word that is being typed begins, behind operators and steps: `2+x` is about x.
size_t word_begin(std::string_view selector) {
  size_t begin = 0;
  for (size_t i = 0; i < selector.size(); ++i) {
    if (std::string_view(" ,&|!(").find(selector[i]) != std::string_view::npos) begin = i + 1;
    if (selector.substr(i, 2) == ".." && i > begin) begin = i + 2;
  }
  const size_t digits = selector.find_first_not_of("0123456789", begin);
  return digits != std::string_view::npos && selector[digits] == '+' ? digits + 1 : begin;
}

void offer_dtypes(Candidates& candidates, const std::string& before) {
  for (int number = 1; number < 100; ++number) {
    const std::string name(dtype_name(static_cast<DType>(number)));
    if (parse_dtype(name)) candidates.offer(before + name);
  }
}

using Offer = void (*)(const GraphOnLine&, Candidates&, const std::string& before);

struct Word {
  std::string_view start, about;
  Offer offer;
};

constexpr std::array kWords = {
    Word{"op:", "type of operation", offer_ops},
    Word{"attr:", "has an attribute, or a value of it", offer_attrs},
    Word{"device:", "on a device", offer_devices},
    Word{"collection:", "the members of a collection", offer_collections},
    Word{"fn:", "inside functions", offer_functions},
};

}  // namespace

void offer_selector(const std::vector<GraphOnLine>& graphs, Candidates& candidates, const std::string& before,
                    const std::string& selector) {
  const size_t begin = word_begin(selector);
  const std::string word = selector.substr(begin), all_before = before + selector.substr(0, begin);
  if (word.starts_with("@")) return candidates.offer_files();
  if (word.starts_with("dtype:")) return offer_dtypes(candidates, all_before + "dtype:");
  for (const Word& known : kWords) {
    if (!word.starts_with(known.start) || word.find("//") != std::string::npos) continue;
    for (const GraphOnLine& graph : graphs)
      known.offer(graph, candidates, all_before + std::string(known.start));
    return;
  }
  const bool inside = word.starts_with("fn:");
  const std::string start = word.substr(inside ? 3 : 0);
  for (const GraphOnLine& graph : graphs) {
    NameOffer names(candidates, all_before + (inside ? "fn:" : ""), start);
    offer_nodes(graph, names);
  }
  if (word.empty() && !graphs.empty()) return;
  for (const Word& known : kWords) candidates.offer(all_before + std::string(known.start), known.about);
  for (const char* other : {"dtype:", "shape:", "rank:", "var:", "var:trainable", "re:"})
    candidates.offer(all_before + other);
}

void offer_key_selector(const std::string& checkpoint, Candidates& candidates, const std::string& before,
                        const std::string& selector) {
  const size_t begin = word_begin(selector);
  const std::string all_before = before + selector.substr(0, begin);
  if (selector.compare(begin, 6, "dtype:") == 0) return offer_dtypes(candidates, all_before + "dtype:");
  NameOffer names(candidates, all_before, selector.substr(begin));
  offer_keys(checkpoint, names);
}

}  // namespace gedit
