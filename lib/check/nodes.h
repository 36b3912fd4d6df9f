// What one node and its inputs are checked for.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "check/functions.h"

namespace gedit {

// What is known of the whole file when a node is looked at.
struct NodeContext {
  int64_t producer = 0;             // GraphDef version
  OpTable* producer_ops = nullptr;  // the file's own stripped_op_list; null where it has none
  bool security = false;
};

// Rules name, twice, duplicate, input, input-order, arity, dtype, reference, attribute, unknown-op,
// deprecated-op, colocation, output-shapes, const, import, unsafe-op. `only` restricts them to some nodes
// where it is given. Into `calls` goes what check_calls() finds.
void check_nodes(const CheckedGraph& in, const NodeContext& context, const Functions& functions,
                 const NodeSet* only, Report& report, Report& calls);

// What a node takes by its op and attributes, where it is told already.
struct InputTypes {
  bool told = false;
  std::vector<DType> types{};
};

// Parts of it, for one node.
void check_inputs(const CheckedGraph& in, NodeId id, const NodeHead& head, const OpFacts& facts,
                  InputTypes& takes, Report& report);
// Whether inputs that are first_outputs are there, and are what is told: then check_inputs() finds nothing.
bool inputs_fit(const CheckedGraph& in, NodeId id, const InputTypes& takes);
void check_attributes(const CheckedGraph& in, NodeId id, const NodeHead& head, const OpFacts& facts,
                      const OpFacts* producers_facts, const Attrs& attrs, const NodeContext& context,
                      Report& report);
void check_const(const CheckedGraph& in, NodeId id, const Attrs& attrs, Report& report);
void check_output_shapes(const CheckedGraph& in, NodeId id, const NodeHead& head, std::string_view value,
                         const NodeContext& context, Report& report);
void check_safety(const CheckedGraph& in, NodeId id, const NodeHead& head, Report& report);

// `input 0 is float32 from Const 'w'`, for messages.
std::string source_words(const CheckedGraph& in, size_t slot, DType type, NodeId producer);

}  // namespace gedit
