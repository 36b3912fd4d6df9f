// A call, If, Case or While on its way out of a graph, and what all that takes its place is made of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "edit/functions/behind_writes.h"
#include "edit/functions/called_function.h"
#include "edit/functions/inline.h"
#include "edit/functions/inlined_graph.h"
#include "graph/dtype.h"

namespace gedit {

struct CallSite {
  NodeId id = kNoNode;
  std::string tie{};      // what a node without inputs waits for where the call stands; may be empty
  bool flow = false;      // an input may be dead, or the call is in a loop
  bool uniform = false;   // then: its inputs and its tie are dead together, and the tie is its only control
  bool held = false;      // its name stays: others wait for it, or it is named from outside
  bool runs_all = false;  // nodes with effects run though nothing rests on them
  bool wanted = false;    // nobody is to be asked
};

struct OutputSpan {  // of a list
  uint32_t first = 0, count = 0;
};

// Of nodes of a body, where each output begins.
struct BodyOutputs {
  bool known = false;
  std::string why{};                                                     // they are not: the call stays
  std::vector<std::vector<std::pair<std::string_view, OutputSpan>>> of;  // by place, in order of names
};

// What the places of all calls in a graph share.
struct InlineState {
  InlineState(Graph& graph_, CalledFunctions& functions_, const InlineRequest& request_)
      : graph(graph_), functions(functions_), behind_writes(graph, functions_), request(request_) {}

  InlinedGraph graph;
  CalledFunctions& functions;
  BehindWrites behind_writes;
  const InlineRequest& request;
  InlineResult result{};
  std::vector<CallSite> sites{};  // behind those that were dealt with come those that are to be
  std::unordered_map<uint32_t, size_t> site_of{};               // by node
  std::unordered_map<const BodyNodes*, BodyOutputs> outputs{};  // of functions whose calls bind nothing

  void add_site(CallSite site) {
    site_of.emplace(index_of(site.id), sites.size());
    sites.push_back(std::move(site));
  }
};

using ResultTensor = std::pair<std::string, DType>;
using ResultTensors = std::vector<ResultTensor>;
using AttrList = std::vector<std::pair<std::string_view, std::string>>;

// One place: reads what stands there, adds nodes beside it, and settles it.
class CallPlace {
 public:
  CallPlace(InlineState& state, const CallSite& site);

  std::string name, device;
  std::string_view node_def;
  std::vector<std::string> inputs;  // data, as they are read by now
  std::string tie;                  // the node for which whatever needs no input waits; may be empty
  bool guarded = false;             // results wait for the tie

  // Finds the tie. `effects`: what is done here must not be done before all inputs are there. `awaited`, by
  // input: every result rests on it anyway; of the others, results wait for those that something was written
  // for. References are read now: their inputs become Identities.
  void guard(bool effects, const std::vector<bool>& awaited);

  // A node `name/WORD`; its name. `waits` are nodes.
  std::string add(std::string_view word, std::string_view op, const std::vector<std::string>& data,
                  const std::vector<std::string>& waits, const AttrList& attrs);
  // The call is gone, and readers of its outputs read these; or, where `stays` or something is behind what
  // was written, the node of its own name, NoOp, Identity or IdentityN, gives these and waits for those.
  void settle(const ResultTensors& results, const std::vector<std::string>& waits, bool stays);

 private:
  void stand_in(const ResultTensors& results, const std::vector<std::string>& waits);
  std::string output_text(size_t index);
  std::string control_on(const std::string& tensor, size_t slot);

  InlineState& state_;
  const CallSite site_;
  std::vector<std::string> controls_;
  std::vector<std::string> late_;  // what results alone wait for
  std::vector<std::pair<std::string_view, uint32_t>> output_names_;
};

// The scope of what stands in for a call: its name, of which the outer scopes alone where it is very long, so
// that what calls call deep down has no names without end.
std::string call_scope(std::string_view name);

// The attributes for which the function's placeholders stand, as a node of the function's own op.
std::string attributes_of_call(std::string_view node_def);
// The types of what a call with these attributes gives (kInvalid: not told), else why that is not known.
std::string result_types(const CalledFunction& called, std::string_view attrs, std::vector<DType>& types);
// Empty where a function gives or takes what a call says of it, as far as either is told; else a clause.
std::string differing_types(std::string_view what, std::string_view attr, const std::vector<DType>& function,
                            const std::vector<DType>& call);

// The device of a body's node where the call says something of it, too.
std::string device_in_call(std::string_view own, std::string_view call);

// Puts the body of the function that the node calls in its place. Empty: done; else why it stays as it was.
std::string inline_call(InlineState& state, const CallSite& site);
// The same of If and Case, and of While; what they call becomes sites of its own.
std::string lower_cond(InlineState& state, const CallSite& site);
std::string lower_loop(InlineState& state, const CallSite& site);

}  // namespace gedit
