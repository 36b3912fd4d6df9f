// gedit sync: an operation that brings the variables of one scope up to date with those of another.
#include "edit/edits.h"

#include <fmt/core.h>

#include "base/error.h"
#include "edit/basis/facts.h"
#include "edit/basis/names.h"
#include "edit/changing/sync_nodes.h"
#include "edit/changing/sync_pairs.h"

namespace gedit {

Changes sync(Model& model, Registry& ops, const SyncRequest& request) {
  model.graph().decode();
  if (request.tau && !(*request.tau > 0 && *request.tau <= 1))
    throw Error(Cause::kUsage, fmt::format("--tau {}: not above 0 and at most 1", *request.tau));
  const std::string from = sync_prefix(request.from_scope), to = sync_prefix(request.to_scope);
  if (!request.only_pairs && from == to)
    throw Error(Cause::kUsage, "--from-scope and --to-scope are the same");
  const Facts facts(model, ops);
  NewNames names(facts.names());
  const SyncVariables variables(facts, from, to, request.all);
  std::vector<SyncPair> pairs = variables.named(request.pairs);
  if (!request.only_pairs) pairs = variables.by_scope(std::move(pairs));
  variables.check_order(pairs);
  const std::string operation = names.exactly(request.name.empty() ? to + "sync" : request.name, "--name OP");
  // Their names are given, so they come before those that can be made unique.
  for (SyncPair& pair : pairs) pair.assign = names.exactly(operation + "/" + pair.name, "--name OP");
  SyncNodes nodes(facts, names, operation, request.tau);
  for (const SyncPair& pair : pairs) nodes.add_assign(pair);
  nodes.add_group(pairs);
  Changes changes;
  if (std::string rest = request.only_pairs ? "" : variables.rest(); !rest.empty())
    changes.notes.push_back(std::move(rest));
  if (std::string left = request.only_pairs ? "" : variables.left(pairs); !left.empty())
    changes.notes.push_back(std::move(left));
  for (const std::string& node : nodes.take()) {
    changes.added.emplace_back(node_name(node), node_op(node));
    model.graph().append(node);
  }
  return changes;
}

}  // namespace gedit
