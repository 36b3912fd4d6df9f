// Which kinds of op there are: a variable, a saver, a loop's Enter, ... The one table of them is in
// lib/ops/kinds.cc; whoever wants to know what an op is for asks here and compares it with nothing.
#pragma once

#include <cstdint>
#include <string_view>

namespace gedit {

enum class OpKind : uint8_t {
  kConst,
  kNoOp,  // runs what its control inputs name: a group
  kIdentity,
  kRefIdentity,
  kPlaceholder,             // any op named so, TensorFlow's or not
  kMustBeFed,               // a placeholder without a default
  kPlaceholderWithDefault,  // may be fed
  kPython,                  // calls a Python function of the process that built the graph
  kCollective,

  // Variables.
  kVariable,
  kVarHandle,           // a resource variable
  kReferenceVariable,   // gives a reference to what it holds
  kKnownByNode,         // holds state that goes by the node's name where it has no shared_name
  kAssign,              // sets a whole variable
  kApply,               // steps a variable, its first input; slots, rates and gradients are the others
  kWritesVariable,      // any op named as one that does
  kReadsValue,          // gives a variable's value
  kReadsHandle,         // leaves the variable of the handle that it takes as it is
  kTemporary,           // a variable of one run, which is found by its `var_name`
  kAsksInitialized,     // gives whether a variable has a value
  kNeedsNoValue,        // works on a variable whatever its value is
  kPassesHandle,        // gives handles and references on, in some of its slots at least
  kHasDtypeOfVariable,  // its `dtype` must be that of the handle it takes (ops/resource_variable_ops.cc)

  // Tables.
  kTable,
  kMutableTable,
  kHashTable,         // stays as its initializer fills it
  kNamedTable,        // any op with that word in its name
  kTableInitializer,  // fills a table
  kTableImport,       // fills any table, as savers do
  kFillsState,        // its first input, which is no variable, gets the contents that the others give
  kTableExport,

  // Savers.
  kSave,
  kRestore,
  kSaveV2,
  kRestoreV2,
  kTakesSlices,         // a save or restore that has the input `shape_and_slices`
  kMergeCheckpoints,    // joins what the shards of a saver wrote
  kBehindSave,          // stands between a SaveV2 and what a saver gives
  kSaverFilename,       // may give a saver the name of its file
  kPassesSaved,         // stands between a saver in a function and a variable
  kPassesSavedInGraph,  // the same in a main graph, where older savers are, too
  kTakesRestored,       // takes a handle, and what a saver in a function restored for it

  // Control flow of version 1.
  kEnter,
  kExit,
  kMerge,
  kSwitch,
  kNextIteration,
  kLoopCond,

  // Calls of functions.
  kCall,             // gives what the function in its `f` gives
  kLocalCall,        // runs it where it stands itself
  kPartitionedCall,  // any op named so
  kIf,
  kCase,
  kWhile,

  // What feeds a model, and what comes out.
  kIterator,           // gives a handle of one of its own
  kTakesFromIterator,  // an element of an iterator, or its handle as something else
  kQueue,
  kReader,
  kNoResult,  // what it gives is no result of a model, though nobody reads it

  // Datasets and TensorArrays.
  kDataset,              // any op with that word in its name
  kTensorArray,          // any op of TensorArrays
  kMakesTensorArray,     // gives the handle of one that no reference leads to
  kTensorArrayGradient,  // gives the handle of another one, which holds gradients
  kTakesElement,         // reads or writes one element, whose place is its second input
  kWritesElements,       // some or all, each of which is written once

  // What an op does besides giving what follows from its inputs, where its definition does not say it.
  kHasNoEffect,      // though it is called stateful, or takes references
  kGivesInputs,      // gives on its inputs as they are
  kReadsState,       // and leaves it as it is
  kHoldsState,       // that outlives a run
  kLivesForARun,     // holds state that does not
  kDrawsNumbers,     // or gives what else a run has by chance
  kDrawsUniform,     // numbers from 0 to below 1, none of them denormal, of the shape that it is given
  kMakesSeedKey,     // gives a key and a counter that follow from a seed
  kDrawsByKey,       // numbers that follow from those
  kWritesInput,      // into the memory of what it reads
  kNeverDead,        // whatever it waits for
  kAdds,             // by one and the same kernel
  kCommutes,         // its two inputs may change places; where they are integers, no bit is another
  kUndoesItself,     // gives of what it gave what it had read: of integers, where it takes numbers
  kComputesAnew,     // gives a tensor of its own, whatever it reads
  kGivesView,        // gives on its input, or a part of it, in the same memory
  kFusedActivation,  // may stand at the end of `fused_ops` (core/grappler/optimizers/remapper.cc)

  // Shapes.
  kHasShape,             // its `shape` is that of what it gives
  kShapeIsInferred,      // TensorFlow's inference takes that, or its value's, for the shape of what it gives
  kUnknownShapeIsEmpty,  // says `[]` where it does not know
  kComputesShape,        // puts a shape together from parts
  kPassesSizes,          // each element of what it gives is one that it reads
  kPicksElements,        // gives some of the elements that it reads, which may be known where others are not
  kShapedOtherwise,      // what releases say of its shapes contradicts itself
  kOnlyChangesShape,     // gives its first input where that has the shape of what it gives
  kKeepsShape,       // one input, one output, of one shape (UnchangedShape in TensorFlow's op definitions)
  kKeepsFirstShape,  // the first output has the shape of the first input, whatever else it does

  kCount,
};

// A set of kinds.
class OpKinds {
 public:
  constexpr OpKinds() = default;
  constexpr OpKinds(OpKind kind)  // NOLINT: a set of one
      : low_(bit(static_cast<int>(kind))), high_(bit(static_cast<int>(kind) - 64)) {}

  constexpr bool has(OpKind kind) const { return has_any(kind); }
  constexpr bool has_any(OpKinds kinds) const { return ((low_ & kinds.low_) | (high_ & kinds.high_)) != 0; }
  constexpr OpKinds operator|(OpKinds other) const {
    other.low_ |= low_;
    other.high_ |= high_;
    return other;
  }
  constexpr bool operator==(const OpKinds&) const = default;

 private:
  static constexpr uint64_t bit(int number) {
    return number >= 0 && number < 64 ? uint64_t{1} << number : uint64_t{0};
  }

  uint64_t low_ = 0, high_ = 0;
};
static_assert(static_cast<int>(OpKind::kCount) <= 128);
constexpr OpKinds operator|(OpKind a, OpKind b) { return OpKinds(a) | b; }

// All kinds of an op. Whoever wants to know one of many nodes asks is() for it, which costs less.
OpKinds kinds_of(std::string_view op);

// Whether the op is of this kind: a few ns, of which most ops need two tests of a bit.
bool is(std::string_view op, OpKind kind);

inline bool is_const_op(std::string_view op) { return is(op, OpKind::kConst); }
inline bool is_no_op(std::string_view op) { return is(op, OpKind::kNoOp); }
inline bool is_identity_op(std::string_view op) { return is(op, OpKind::kIdentity); }
inline bool is_placeholder_op(std::string_view op) { return is(op, OpKind::kPlaceholder); }
inline bool is_python_op(std::string_view op) { return is(op, OpKind::kPython); }
inline bool is_variable_op(std::string_view op) { return is(op, OpKind::kVariable); }
inline bool is_var_handle_op(std::string_view op) { return is(op, OpKind::kVarHandle); }
inline bool is_assign_op(std::string_view op) { return is(op, OpKind::kAssign); }
inline bool is_table_op(std::string_view op) { return is(op, OpKind::kTable); }
inline bool is_table_initializer_op(std::string_view op) { return is(op, OpKind::kTableInitializer); }
inline bool is_table_import_op(std::string_view op) { return is(op, OpKind::kTableImport); }
inline bool is_save_op(std::string_view op) { return is(op, OpKind::kSave); }
inline bool is_restore_op(std::string_view op) { return is(op, OpKind::kRestore); }
inline bool is_save_v2_op(std::string_view op) { return is(op, OpKind::kSaveV2); }
inline bool is_restore_v2_op(std::string_view op) { return is(op, OpKind::kRestoreV2); }
inline bool is_enter_op(std::string_view op) { return is(op, OpKind::kEnter); }
inline bool is_exit_op(std::string_view op) { return is(op, OpKind::kExit); }
inline bool is_merge_op(std::string_view op) { return is(op, OpKind::kMerge); }
inline bool is_switch_op(std::string_view op) { return is(op, OpKind::kSwitch); }
inline bool is_next_iteration_op(std::string_view op) { return is(op, OpKind::kNextIteration); }

}  // namespace gedit
