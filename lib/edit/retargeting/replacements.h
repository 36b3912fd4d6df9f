// Ops that an older release does not know, and what stands in for them (docs/rules.md#retarget-replacements).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "edit/retargeting/site.h"

namespace gedit {

// Nothing where the node was replaced, else why it cannot be, a clause: `its third output is read`. `notes`
// gains what the user is to hear of it.
using Replace = std::string (*)(Site& site, std::vector<std::string>& notes);

struct ReplacementRow {
  std::string_view op;
  Replace replace;      // null: only the op gets another name, `renamed`
  bool shapes = false;  // its condition is about them
  // An attribute: releases without it do something else with a node that does not have it either. Others are
  // not in need of the replacement.
  std::string_view attr{};
  std::string_view renamed{};
};

// Null where nothing stands in for the op.
const ReplacementRow* replacement_of(std::string_view op);

// By theme; the table is in replacements.cc.
std::string replace_batch_mat_mul(Site& site, std::vector<std::string>& notes);
std::string replace_select_v2(Site& site, std::vector<std::string>& notes);
std::string replace_leaky_relu(Site& site, std::vector<std::string>& notes);
std::string replace_div_no_nan(Site& site, std::vector<std::string>& notes);
std::string replace_dense_bincount(Site& site, std::vector<std::string>& notes);
std::string replace_equal(Site& site, std::vector<std::string>& notes);
std::string replace_broadcast_to(Site& site, std::vector<std::string>& notes);
std::string replace_gather_v2(Site& site, std::vector<std::string>& notes);

std::string replace_batch_norm(Site& site, std::vector<std::string>& notes);
std::string replace_bias_add(Site& site, std::vector<std::string>& notes);
std::string replace_bias_add_grad(Site& site, std::vector<std::string>& notes);
std::string replace_explicit_paddings(Site& site, std::vector<std::string>& notes);
std::string replace_fused_convolution(Site& site, std::vector<std::string>& notes);
std::string replace_fused_mat_mul(Site& site, std::vector<std::string>& notes);
std::string replace_fused_batch_norm_ex(Site& site, std::vector<std::string>& notes);

std::string replace_suppression_v5(Site& site, std::vector<std::string>& notes);
std::string replace_suppression_v4(Site& site, std::vector<std::string>& notes);
std::string replace_matrix_diag(Site& site, std::vector<std::string>& notes);
std::string replace_matrix_set_diag(Site& site, std::vector<std::string>& notes);
std::string replace_matrix_diag_part(Site& site, std::vector<std::string>& notes);
std::string replace_parse_example_v2(Site& site, std::vector<std::string>& notes);
std::string replace_static_regex(Site& site, std::vector<std::string>& notes);
std::string replace_regex(Site& site, std::vector<std::string>& notes);
std::string replace_list_shape(Site& site, std::vector<std::string>& notes);
std::string replace_list_growth(Site& site, std::vector<std::string>& notes);
std::string replace_disable_copy(Site& site, std::vector<std::string>& notes);

std::string replace_draw(Site& site, std::vector<std::string>& notes);
std::string replace_draw_algorithm(Site& site, std::vector<std::string>& notes);
std::string replace_seed_key(Site& site, std::vector<std::string>& notes);

// An attribute that is int64 where the release knows int32 alone: a Cast stands in front of the inputs of
// that type. The release has no such attribute where `keep` is false. As a Replace.
std::string cast_indices(Site& site, std::string_view key, bool keep);

}  // namespace gedit
