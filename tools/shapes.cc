// gedit shapes: the shape of every tensor, and what follows from another one.
#include <algorithm>
#include <optional>

#include "base/file.h"
#include "base/size.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/text.h"
#include "commands.h"
#include "graph/library.h"
#include "graph/op_defs.h"
#include "graph/wiring.h"
#include "model/release_fit.h"
#include "select/selection.h"
#include "select/tensors.h"
#include "shape/flops.h"
#include "shape/infer.h"
#include "shape/like_nodes.h"
#include "shape/write.h"
#include "shapes/flops_table.h"

namespace gedit {
namespace {

class Shapes final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    line.add_option("SELECTOR", selector_,
                    "Only the outputs of these nodes; without it all of the main graph");
    line.add_option("--input", stated_, "What if: the shape of this tensor, whatever the file says")
        ->type_name("T=SHAPE")
        ->one_each();
    line.add_flag("--symbols", symbols_, "Unknown dimensions that are known to be equal by number: ?1");
    line.add_flag("--flops", flops_,
                  "Floating point operations by scope, as TensorFlow's profiler counts them");
    line.add_option("--by", by_, "With --flops: how many parts of a name are its scope (1)")->type_name("N");
    line.add_flag("-j,--json", json_, "An array of {\"tensor\", \"dtype\", \"shape\", \"symbols\"}");
    line.add_flag("--write", write_, "Write OUT with _output_shapes at every node, of functions, too");
    output_.setup(line);
  }

  int run() override {
    check_usage();
    if (write_) {
      edit_file(input_, output_, [](Model& model, Registry& ops) {
        model.graph().decode();
        define_ops_of_writer(ops, model.meta());
        return write(model, ops);
      });
      return 0;
    }
    Model model = input_.load_one();
    Registry ops = input_.registry(model);
    return with_file(model, [&] {
      model.graph().decode();
      define_ops_of_writer(ops, model.meta());
      Selecting selecting(model, ops);
      const LikeNodes like(model.graph());
      Inference inference(model.graph(), ops, {stated_shapes(model, ops, selecting.names()), true, &like});
      if (flops_) {
        const Flops flops =
            count_flops(model.graph(), inference, static_cast<int>(std::min<uint32_t>(by_, 1000)));
        print(json_ ? flops_json(flops) : flops_table(flops));
        note_flops(flops, model.graph(), inference.main());
        return complain(inference);
      }
      list(model, selecting, inference, like, ops);
      return complain(inference);
    });
  }

 private:
  void check_usage() const {
    if (!write_ && output_.given())
      throw Error(Cause::kUsage, "shapes writes no file").hint("--write -o OUT");
    if (!write_) return;
    if (!stated_.empty()) {
      throw Error(Cause::kUsage, "--write takes shapes as they are, without --input")
          .hint("gedit set --shape " + stated_.front() + " --follow");
    }
    if (flops_ || json_ || symbols_ || !selector_.empty())
      throw Error(Cause::kUsage, "--write is for the whole graph, and prints no shapes");
  }

  static Changes write(Model& model, Registry& ops) {
    model.graph().decode();
    Changes changes;
    Inference inference(model.graph(), ops);
    if (!inference.contradictions().empty()) {
      const ShapeContradiction& found = inference.contradictions().front();
      throw refused(found.message).of(quoted("node", address(found.function, found.node)));
    }
    const uint64_t written = write_output_shapes(model.graph(), ops, inference);
    changes.notes.push_back("_output_shapes of " + counted(written, "node") + " written");
    return changes;
  }

  static int complain(const Inference& inference) {
    for (const ShapeContradiction& found : inference.contradictions())
      say(printable(address(found.function, found.node)) + ": " + found.message);
    return inference.contradictions().empty() ? 0 : 1;
  }

  std::vector<StatedShape> stated_shapes(const Model& model, Registry& ops, const Names& names) const {
    std::vector<StatedShape> found;
    for (const std::string& text : stated_) {
      const size_t equals = text.rfind('=');
      if (equals == std::string::npos || equals == 0) throw misused(text, "is no T=SHAPE");
      const TensorRef tensor = find_tensor(model, names, ops, text.substr(0, equals));
      found.push_back({tensor.node, tensor.index, parse_shape(text.substr(equals + 1))});
    }
    return found;
  }

  // Gone through twice: no more than one tensor is kept, whatever the graph.
  void list(Model& model, Selecting& selecting, Inference& inference, const LikeNodes& like, Registry& ops) {
    constexpr size_t kWidest = 48, kPiece = size_t{64} << 10;
    size_t width = 0;
    SymbolNumbers numbers;
    each(model, selecting, inference, [&](const GraphShapes& shapes, const Named& node) {
      for (uint32_t k = 0; k < shapes.outputs(node.id); ++k) {
        const size_t size = node.tensor_size(k);
        if (size <= kWidest) width = std::max(width, size);
        if (symbols_ || json_) numbers.meet(shapes.symbols(node.id, k));
      }
    });
    OutputFile out("-", true);
    std::string text;
    bool any = false;
    OpDefs defs(ops);
    // Of nodes of the main graph that are alike, found once.
    std::vector<std::optional<std::vector<DType>>> of_kind(like.size());
    std::vector<DType> own;
    const auto types_of = [&](const Named& node) -> const std::vector<DType>& {
      const uint16_t number = node.prefix.empty() ? like.of(node.id) : LikeNodes::kNone;
      if (of_kind[number]) return *of_kind[number];
      const OpDef* def = defs.find(node_op(node.node_def));
      if (def == nullptr || !output_types(*def, node.node_def, own)) own.clear();
      return number == LikeNodes::kNone ? own : of_kind[number].emplace(own);
    };
    each(model, selecting, inference, [&](const GraphShapes& shapes, const Named& node) {
      const uint32_t count = shapes.outputs(node.id);
      if (count == 0) return;
      const std::vector<DType>& types = types_of(node);
      for (uint32_t k = 0; k < count; ++k) {
        TensorShape tensor{node.tensor(k), {}, shapes.shape(node.id, k), {}};
        if (k < types.size() && types[k] != DType::kInvalid) tensor.dtype = types[k];
        if (symbols_ || json_) tensor.symbols = numbers.of(shapes.symbols(node.id, k));
        if (json_) {
          text += any ? ",\n" : "[\n";
          text += shapes_json_item(tensor);
        } else {
          add_line(tensor, width, text);
        }
        any = true;
        if (text.size() < kPiece) continue;
        out.write(text);
        text.clear();
      }
    });
    if (json_) text += any ? "\n]\n" : "[]\n";
    out.write(text);
    out.commit();
  }

  // A node of the main graph, or with the prefix `FN//` of a function.
  struct Named {
    NodeId id;
    std::string_view node_def;
    std::string prefix = {};

    size_t tensor_size(uint32_t output) const {
      return prefix.size() + node_name(node_def).size() + 1 + std::to_string(output).size();
    }
    std::string tensor(uint32_t output) const {
      std::string text = prefix;
      text += node_name(node_def);
      text += ':';
      text += std::to_string(output);
      return text;
    }
  };

  // Symbols that stand at two places at least, by the order in which they come.
  class SymbolNumbers {
   public:
    void meet(const std::vector<uint32_t>& symbols) {
      for (const uint32_t symbol : symbols) {
        if (symbol >= known_.size()) known_.resize(std::max<size_t>(symbol + 1, known_.size() * 2), kNever);
        if (symbol != 0) known_[symbol] = known_[symbol] == kNever ? kOnce : kOften;
      }
    }
    std::vector<uint32_t> of(std::vector<uint32_t> symbols) {
      for (uint32_t& symbol : symbols) {
        if (symbol == 0) continue;
        uint32_t& known = known_[symbol];
        if (known == kOften) known = kOften + ++last_;
        symbol = known > kOften ? known - kOften : 0;
      }
      return symbols;
    }

   private:
    enum : uint32_t { kNever, kOnce, kOften };  // and behind it the numbers
    std::vector<uint32_t> known_;
    uint32_t last_ = 0;
  };

  template <typename Use>
  void each(Model& model, Selecting& selecting, Inference& inference, Use use) {
    const Graph& graph = model.graph();
    if (selector_.empty()) {
      for (uint32_t i = 0; i < graph.size(); ++i) {
        if (!graph.removed(NodeId{i})) use(inference.main(), Named{NodeId{i}, graph.bytes(NodeId{i})});
      }
      return;
    }
    const Selection selection = selecting.require(selector_);
    for (const NodeId id : selection.nodes.nodes()) use(inference.main(), Named{id, graph.bytes(id)});
    for (const auto& [index, nodes] : selection.in_functions) {
      const std::string name(selecting.library().functions[index].name);
      const GraphShapes* shapes = inference.function(name);
      const Graph* body = inference.body(name);
      if (shapes == nullptr || body == nullptr) continue;
      for (const NodeId id : nodes.nodes()) use(*shapes, Named{id, body->bytes(id), name + "//"});
    }
  }

  std::string shape_as_text(const TensorShape& tensor) const {
    if (!symbols_ || !tensor.shape) return shape_text(tensor.shape);
    std::string text = "[";
    for (size_t i = 0; i < tensor.shape->size(); ++i) {
      if (i > 0) text += ',';
      const int64_t dim = (*tensor.shape)[i];
      if (dim >= 0) text += std::to_string(dim);
      if (dim < 0) text += '?';
      if (dim < 0 && tensor.symbols[i] != 0) text += std::to_string(tensor.symbols[i]);
    }
    text += ']';
    return text;
  }

  void add_line(const TensorShape& tensor, size_t width, std::string& out) const {
    out += padded(printable(tensor.tensor), width);
    out += "  ";
    out += tensor.dtype ? dtype_name(*tensor.dtype) : "?";
    out += tensor.shape ? shape_as_text(tensor) : "[*]";
    out += '\n';
  }

  InputOptions input_;
  std::string selector_;
  std::vector<std::string> stated_;
  OutputOptions output_;
  bool symbols_ = false, json_ = false, flops_ = false, write_ = false;
  uint32_t by_ = 1;
};

}  // namespace

CommandInfo shapes_command() {
  return {
      .summary = "tells the shape of every tensor, and what follows from another input shape",
      .synopsis = "FILE [SELECTOR] [--input T=SHAPE].. [--symbols] [--flops [--by N]] [-j | --write -o OUT]",
      .text = R"(
A line for each output of the nodes that SELECTOR hits: the tensor, its type, its shape. Dimensions that
depend on what is fed are '?', a shape of unknown rank is '[*]'. Shapes follow from the ops, as in
TensorFlow, and further: through functions, loops, the handles of variables, and the small integer tensors
with which graphs compute shapes. What the file says itself (_output_shapes) counts where nothing upstream
was changed by --input.

--flops counts floating point operations as TensorFlow's profiler does, by its own table, through calls of
functions, loops for one step; a row a scope of N parts of a name (--by N). What the table has not, or whose shapes
are not known, counts as 0 and is named in a note; for these it names the --input that tells them.

--write puts the shapes into the file for consumers that have no shape functions of their own: _output_shapes
at every node with outputs, in functions what holds in all their calls.

Where shapes contradict each other, so that TensorFlow refuses the graph or must fail at run time, a line on
standard error names the node, and the exit status is 1.
)",
      .examples = R"(
gedit shapes m.pb 'conv1/**' --input input=[8,224,224,3]
gedit shapes saved/ 'fn:*//**' --symbols
gedit shapes m.pb --flops --input input=[1,300,300,3] --by 2
gedit shapes m.pb --write -o shaped.pb
)",
      .make = make_command<Shapes>,
  };
}

}  // namespace gedit
