// The edits of a model, and what each is asked to do. All have one shape:
//
//   gedit::Model model = gedit::load("in.meta");
//   gedit::Registry ops;
//   ops.add_builtin();
//   const gedit::Changes changes = gedit::extract(model, ops, {.outputs = {"logits"}});
//   gedit::save(model, {.path = "out.meta"});
//
// What holds for all of them, on failure too, stands in basis/changes.h. Texts that name nodes, tensors and
// scopes are what the command line takes (docs/rules.md#naming-things).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "edit/basis/changes.h"
#include "edit/changing/new_signature.h"
#include "edit/copying/request.h"
#include "edit/merging/request.h"
#include "model/model.h"
#include "ops/registry.h"

namespace gedit {

class GraphIndex;

// ---- copy

// Edits the selected MetaGraph. The copies are written when the model is: until then it stays where it is and
// `ops` lives. Throws Error (kUsage, kRefused); the model is then not to be used any more.
CopyChanges copy(Model& model, Registry& ops, const CopyRequest& request);

// ---- merge

// Its operands are several models, each with what is known of its ops, and what comes of them is a new one:
// so it has a shape of its own among the edits. The model views the operands, which it keeps. Throws Error
// (kUsage, kInput, kRefused).
MergeChanges merge(std::vector<MergeOperand> operands, const MergeRequest& request);

// ---- extract

struct ExtractRequest {
  std::vector<std::string> outputs;   // tensors or ops whose closure stays
  std::vector<std::string> inputs;    // where it is cut; T or T:DTYPE[SHAPE]
  std::string signature;              // instead of outputs: those of this signature, and its inputs
  std::vector<std::string> kept{};    // nodes that stay with their closure, in loops as well
  bool want_changes = false;          // removed nodes are listed, too
  bool graph_alone = false;           // for a GraphDef: nothing stays for what lies around
  bool fill_tables = false;           // of a GraphDef, too, what fills a table stays with it
  const GraphIndex* index = nullptr;  // of the graph, or of an equal one, where it is known
};

// Reduces the selected MetaGraph. Throws Error (kUsage, kRefused).
Changes extract(Model& model, Registry& ops, const ExtractRequest& request);

// ---- freeze

struct FreezeRequest {
  std::vector<std::string> outputs;  // tensors or ops whose closure stays
  std::vector<std::string> inputs;   // where it is cut; T or T:DTYPE[SHAPE]
  std::string signature;             // instead of outputs: those of this signature, and its inputs
  std::string checkpoint;            // where values come from; empty: none was named and none is known
  std::string keep;                  // a selector: variables that stay variables
  bool want_changes = false;         // fill Changes::removed, too
};

struct FreezeChanges : Changes {
  std::vector<std::string> kept_keys;  // of the checkpoint: values of the variables that stay
};

// Reduces the selected MetaGraph. Weights are streamed from the checkpoint when the model is written; they
// are not in memory. Throws Error (kUsage, kRefused, kInput).
FreezeChanges freeze(Model& model, Registry& ops, const FreezeRequest& request);

// The checkpoint that belongs to the model: `named` if it is given, a SavedModel's variables, for `x.meta`
// the checkpoint `x` where there is one; else empty.
std::string values_of(const Model& model, const std::string& named);

// ---- cast

struct CastRequest {
  DType to = DType::kInvalid;    // floating point
  std::string select;            // variables and Consts; empty: all variables, or without any all weights
  bool rewrites_values = false;  // the checkpoint is written beside: in version 2
};

struct CastChanges : Changes {
  std::set<std::string> keys;  // of the checkpoint: values that are to be of that type
};

// Weights of fewer bits, cast where they are used. Values of constants are cast while the model is written.
// Throws Error (kRefused).
CastChanges cast(Model& model, Registry& ops, const CastRequest& request);

// ---- insert

struct InsertRequest {
  std::string op;                  // empty with at_reads: StopGradient
  std::string at_reads;            // a selector: behind every read of these variables
  std::vector<std::string> after;  // tensors: `node:1`, `FN//node:1`, `FN//argument`, `KEY.outputs[y]`
  std::vector<std::string> attrs;  // NAME=VALUE, the value in the listing's form
};

// Edits the selected MetaGraph. Throws Error (kUsage, kRefused), the model then being as it was.
Changes insert(Model& model, Registry& ops, const InsertRequest& request);

// ---- sync

struct SyncRequest {
  std::string from_scope, to_scope;  // SRC and DST; empty: the whole graph
  std::string name;                  // of the operation; empty: DST/sync
  std::optional<double> tau;         // DST := tau * SRC + (1 - tau) * DST; 0 < tau <= 1
  bool all = false;                  // every variable of DST, not only the trainable ones
  std::vector<std::string> pairs;    // A=B: B := A, whatever they are called; `@file` with one a line
  bool only_pairs = false;           // and no scopes
};

// Appends the operation and what it runs to the selected MetaGraph; nothing else changes. Throws Error
// (kUsage, kRefused), the model being as it was.
Changes sync(Model& model, Registry& ops, const SyncRequest& request);

// ---- rename

struct RenameRequest {
  // `a=b`, `a/=b/`, `a/=`, `/=b/`, `FN//a=b`, `fn:F=G`, `@file` with one a line. All apply at once.
  std::vector<std::string> pairs;
  // `s/RE/REPL/[g]` with any delimiter: RE2 syntax, \1 and & as in sed. In order, after the pairs.
  std::vector<std::string> expressions;
  bool want_changes = false;
};

// The checkpoint keys that are the name of a variable that the request renames, and what they become: for a
// rename together with its checkpoint. To be asked before rename().
std::map<std::string, std::string> renamed_keys(Model& model, const RenameRequest& request);

// Renames in the selected MetaGraph. Throws Error: kUsage for a malformed pair, kRefused where a pair hits
// nothing, a name is taken or is no node name.
Changes rename(Model& model, Registry& ops, const RenameRequest& request);

// ---- set

struct SetStep {
  enum class Is { kDevice, kAttr, kShape } is;
  std::string text;  // SEL=DEV; SEL:NAME=VALUE or SEL:NAME; T=SHAPE
};

struct SetRequest {
  std::vector<SetStep> steps;
  bool follow = false;        // what the file says of shapes downstream of kShape becomes what follows
  bool rebake = false;        // with follow: constants that hold a size that is gone are changed, too
  bool want_changes = false;  // fill Changes::changed, which holds every name
};

// Takes the steps in order. Edits the selected MetaGraph, nodes of functions included. Throws Error (kUsage,
// kRefused); the model is then not to be used any more.
Changes set(Model& model, Registry& ops, const SetRequest& request);

// ---- signature

// All of them, add_signature() too, edit the selected MetaGraph, and in a TF2 SavedModel its object graph, so
// that tf.saved_model.load agrees. Throw Error (kUsage, kRefused); the model is then not to be used any more.

// OLD=NEW: OLD is a key, `KEY.inputs[x]` or `KEY.outputs[y]`, NEW the bare name; all at once.
Changes rename_signatures(Model& model, Registry& ops, const std::vector<std::string>& pairs);

Changes remove_signatures(Model& model, const std::vector<std::string>& keys);

}  // namespace gedit
