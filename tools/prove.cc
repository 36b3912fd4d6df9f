// gedit prove: whether two graphs compute the same.
#include "prove/prove.h"

#include "base/error.h"
#include "checkpoint/open.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "commands.h"
#include "edit/basis/key_value.h"
#include "edit/edits.h"
#include "edit/savers/checkpoint_values.h"
#include "graph/names.h"
#include "graph/types.h"
#include "prove/print.h"
#include "select/tensors.h"

namespace gedit {
namespace {

class Prove final : public Command {
 public:
  void setup(CommandLine& line) override {
    line.add_option("A", a_, "A graph in any form")->required();
    line.add_option("B", b_, "What is to compute the same")->required();
    input_.setup_options(line);
    line.add_option("--outputs", outputs_, "Tensors of A; where B calls it otherwise, A=B")
        ->type_name("T[=T],..")
        ->one_each();
    line.add_option("--map", map_, "Inputs and state of other names, of A and of B; @FILE: a line each")
        ->type_name("A=B,..")
        ->one_each();
    line.add_option("--given", given_, "What is known of a tensor in both, as a listing writes the value")
        ->type_name("T=VALUE")
        ->one_each();
    line.add_option("--checkpoint", checkpoints_,
                    "Values of variables; default: a SavedModel's own, of x.meta the checkpoint x")
        ->type_name("[A=|B=]CKPT")
        ->one_each();
    line.add_flag("--bytes", request_.bytes, "Compare variables by their bytes, not by stored checksums");
    line.add_flag("-j,--json", json_, "JSON");
    line.add_flag("-q,--quiet", quiet_, "Print nothing: the exit status is the answer");
  }

  int run() override {
    if (a_ == "-" && b_ == "-") throw Error(Cause::kUsage, "standard input can be read only once");
    Model a = input_.load_one(a_), b = input_.load_one(b_);
    Registry ops_a = input_.registry(a), ops_b = input_.registry(b);
    const Proof proof = with_files(a, b, [&] {
      CheckpointValues values_a(a, ops_a, checkpoint(a, "A=")), values_b(b, ops_b, checkpoint(b, "B="));
      const ProofSide side_a{a, ops_a, &values_a}, side_b{b, ops_b, &values_b};
      try {
        read_request(side_a, side_b);
        const Progress proving("proving", quiet_);
        return prove(side_a, side_b, request_);
      } catch (const Malformed&) {
        throw;
      } catch (const Error& error) {
        rethrow(b, error);
      }
    });
    if (!quiet_) print(json_ ? proof_json(proof) : proof_text(proof));
    return proof.proved() ? 0 : 1;
  }

 private:
  std::string checkpoint(const Model& model, std::string_view side) const {
    std::string named;
    for (const std::string& text : checkpoints_) {
      const bool of_a = text.starts_with("A="), of_b = text.starts_with("B=");
      if (text.starts_with(side)) {
        named = text.substr(side.size());
      } else if (!of_a && !of_b && named.empty()) {
        named = text;
      }
    }
    return values_of(model, named);
  }

  void read_request(const ProofSide& a, const ProofSide& b) {
    for (const std::string& text : read_pairs(split_list(map_))) {
      const size_t equal = text.find('=');
      if (equal == std::string::npos || equal == 0 || equal + 1 == text.size())
        throw Error(Cause::kUsage, "not A=B").of(quoted("option", "--map " + text));
      request_.map.emplace_back(text.substr(0, equal), text.substr(equal + 1));
    }
    refuse_unknown(a, b);
    for (const std::string& text : split_list(outputs_)) {
      const size_t equal = text.find('=');
      request_.outputs.push_back(equal == std::string::npos
                                     ? OutputPair{text, text}
                                     : OutputPair{text.substr(0, equal), text.substr(equal + 1)});
    }
    if (outputs_.empty()) request_.outputs = common_outputs(a, b, request_.map);
    if (request_.outputs.empty())
      throw Error(Cause::kUsage, "no output that both have by its name").hint("--outputs A=B");
    for (const std::string& text : given_) {
      const size_t equal = text.find('=');
      if (equal == std::string::npos)
        throw Error(Cause::kUsage, "not T=VALUE").of(quoted("option", "--given " + text));
      add_given(text.substr(0, equal), text.substr(equal + 1), a, b);
    }
  }

  // As of what is given, one side may lack it. State in functions goes by its shared_name.
  void refuse_unknown(const ProofSide& a, const ProofSide& b) const {
    if (request_.map.empty()) return;
    for (const ProofSide* side : {&a, &b}) {
      if (!side->model.graph().part(graph_field::kLibrary).empty()) return;
      side->model.graph().decode();
    }
    const Names in_a(a.model.graph()), in_b(b.model.graph());
    for (const auto& [name_a, name_b] : request_.map) {
      if (!tensor_if_there(in_a, name_a) && !tensor_if_there(in_b, name_b))
        find_tensor(a.model, in_a, a.ops, name_a, true);  // says that there is none
    }
  }

  // Its dtype is that of the tensor in the graph that has it.
  void add_given(const std::string& tensor, const std::string& value, const ProofSide& a,
                 const ProofSide& b) {
    for (const ProofSide* side : {&a, &b}) {
      side->model.graph().decode();
      const Names names(side->model.graph());
      const auto found = tensor_if_there(names, tensor);
      if (!found) continue;
      const auto types = output_types(side->ops, side->model.graph().bytes(found->node));
      const bool known = types && found->index < types->size();
      try {
        request_.given.push_back(
            {tensor, given_tensor(known ? base_type((*types)[found->index]) : DType::kInvalid, value)});
      } catch (const Error& error) {
        throw error.of(quoted("tensor", tensor));
      }
      return;
    }
    find_tensor(a.model, Names(a.model.graph()), a.ops, tensor, true);  // says that there is none
  }

  InputOptions input_;
  ProofRequest request_;
  std::string a_, b_;
  std::vector<std::string> outputs_, map_, given_, checkpoints_;
  bool json_ = false, quiet_ = false;
};

}  // namespace

CommandInfo prove_command() {
  return {
      .summary = "tells whether two graphs compute the same",
      .synopsis = R"(A B [--outputs T[=T],..] [--map A=B,..] [--given T=VALUE] [--checkpoint [A=|B=]CKPT]
                   [--bytes] [-j] [-q])",
      .text = R"(
Compares what outputs are made of, without running anything. Names, the order of nodes, devices, copies of
a node, Identity and its like, attributes at their defaults and how a constant is written do not count;
functions are seen through, and If, Case and While are what they were lowered to. Variables are compared
by their values where a checkpoint has them, else by their names, as inputs, tables and other state are.

  proved T    611 tensors                      wherever both give a value, it has the same bits
  differs T: first where a 'X' and b 'Y' part: WHAT    going from the output towards the inputs
  unknown T: 'X' WHY                           nothing can be said: no seed, a write, ...

Without --outputs these are the outputs of signatures that both have, else what looks like an output of A
and is there in B by the same name. T may be KEY.OUTPUT of a signature. --given folds what follows from a
value: Switch, Merge and If of a known predicate.

Exit status 0: all proved; 1: not.
)",
      .examples = R"(
gedit prove train.meta infer.pb --outputs prob --given is_training=false --checkpoint train-9000
gedit prove a.pb b.pb --outputs y=net/y --map x=net/x
gedit prove model/ frozen.pb --outputs serving_default.y=Identity --map serving_default_x=x
)",
      .make = make_command<Prove>,
  };
}

}  // namespace gedit
