// Rules of cells and layers that are one op.
#include "shape/rules.h"

namespace gedit::shaping {

void lstm_cell(Subject& node) {
  const auto input = node.of_rank(0, 2), state = node.of_rank(1, 2);
  if (!input || !state) return;
  for (size_t i = 0; i < node.outputs.size(); ++i) node.give(i, {input->front(), (*state)[1]});
}

void block_lstm(Subject& node) {
  const auto input = node.of_rank(1, 3);
  const Ranked bias = node.shape(node.count() - 1);
  if (!input || !bias || bias->size() != 1) return;
  const Dim cell = node.dims().floor_divide(bias->front(), 4);
  for (size_t i = 0; i < node.outputs.size(); ++i)
    node.give(i, {(*input)[0], (*input)[1], cell == kUnknown ? node.fresh(0) : cell});
}

void gru_cell(Subject& node) {
  const auto input = node.of_rank(0, 2), state = node.of_rank(1, 2);
  if (!input || !state) return;
  for (size_t i = 0; i < node.outputs.size(); ++i) node.give(i, {input->front(), (*state)[1]});
}

void cudnn_rnn(Subject& node) {
  const auto input = node.of_rank(0, 3), state = node.of_rank(1, 3);
  if (!input || !state) return;
  const int64_t directions = node.text("direction") == "bidirectional" ? 2 : 1;
  Dim units = node.dims().multiply((*state)[2], directions);
  node.give(0, {(*input)[0], (*input)[1], units == kUnknown ? node.fresh(0) : units});
  node.give(1, *state);
  if (node.text("rnn_mode", "lstm") == "lstm")
    node.give(2, *state);
  else
    node.give(2, kNoRank);
}

}  // namespace gedit::shaping
