#include "draw/sheet.h"

#include <algorithm>

#include "draw/entries.h"
#include "draw/fold.h"
#include "draw/tree.h"
#include "draw/wiring.h"
#include "graph/library.h"
#include "model/collections.h"
#include "model/summary.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// What the models's surroundings say of the main graph's nodes.
struct AroundGraph {
  std::vector<std::string_view> initializers;
  std::vector<std::string> outputs;  // of the model
};

std::vector<std::string_view> initializers(const MetaGraph& meta) {
  std::vector<std::string_view> names;
  for (const Collection& collection : collections(meta)) {
    if (collection.kind != collection_kind::kBytesList || !holds_variables(collection.key)) continue;
    for (const std::string_view item : collection.items) names.push_back(variable_names(item).initializer);
  }
  return names;
}

class SheetMaker {
 public:
  SheetMaker(const GraphIndex& index, std::shared_ptr<const LikeNodes> like, OpDefs& ops,
             const SheetOptions& options, const NodeSet* hits, const GraphShapes* shapes)
      : index_(index), graph_(index.graph()), ops_(ops), options_(options), hits_(hits), shapes_(shapes) {
    sheet_.like = std::move(like);
  }

  Sheet run(const AroundGraph& surroundings) {
    wiring_ = wire(index_, *sheet_.like, ops_, surroundings.initializers, hits_, shapes_, sheet_.types);
    connect();
    keep();
    item_of_ = plant(wiring_, keep_, sheet_);
    items_of_vertices();
    mark_outputs(surroundings.outputs);
    edges_of_items();
    fold_blocks(sheet_);
    if (options_.most_children > 0) group(sheet_, options_.most_children, order_, item_of_);
    return std::move(sheet_);
  }

 private:
  uint32_t size() const { return static_cast<uint32_t>(wiring_.vertices.size()); }
  bool hit(uint32_t v) const { return hits_ == nullptr || (v < graph_.size() && hits_->has(NodeId{v})); }

  // Edges between boxes: what sits in another's box reads and is read there.
  void connect() {
    for (uint32_t v = 0; v < size(); ++v) {
      if (wiring_.seat[v] != Seat::kBox && wiring_.seat[v] != Seat::kPart) continue;
      const uint32_t to = wiring_.host[v];
      for (uint32_t i = wiring_.begins[v]; i < wiring_.begins[v + 1]; ++i) {
        const Wiring::Input& input = wiring_.inputs[i];
        uint32_t from = input.from;
        if (wiring_.seat[from] == Seat::kRead || wiring_.seat[from] == Seat::kPart) from = wiring_.host[from];
        const bool row = wiring_.seat[from] == Seat::kConst;
        if (from == to || (row && (input.control || to != v))) continue;
        edges_.push_back({from, to, input.type, input.control});
      }
    }
  }

  void keep() {
    keep_.assign(size(), false);
    for (uint32_t v = 0; v < size(); ++v) {
      keep_[v] = wiring_.seat[v] != Seat::kScope && hit(v);
    }
    if (hits_ == nullptr) return;
    std::erase_if(edges_, [&](const SheetEdge& edge) {
      return !hit(edge.to) && (!hit(edge.from) || wiring_.seat[edge.from] == Seat::kConst);
    });
    for (const SheetEdge& edge : edges_) keep_[edge.from] = keep_[edge.to] = true;
  }

  void items_of_vertices() {
    order_.assign(sheet_.items.size(), 0);
    for (uint32_t v = 0; v < size(); ++v) {
      if (item_of_[v] == kNoItem) continue;
      Item& item = sheet_.items[item_of_[v]];
      order_[item_of_[v]] = v;
      item.hit = hit(v);
      if (wiring_.host[v] != v) item.host = item_of_[wiring_.host[v]];
      if (!item.bytes.empty()) {
        const OpKinds kinds = graph_.kinds(NodeId{v});
        if (kinds.has_any(OpKind::kVariable | OpKind::kTable)) item.look = Look::kState;
        if (kinds.has(OpKind::kPlaceholder)) item.look = Look::kInput;
        item.like = sheet_.like->of(NodeId{v});
        continue;
      }
      const bool state = sheet_.types[item.type] == "resource";
      item.look = item.op == "result" ? Look::kOutput : state ? Look::kState : Look::kInput;
    }
    for (size_t i = sheet_.items.size(); i-- > 1;) {  // scopes stand where the first of their nodes does
      const Item& item = sheet_.items[i];
      if (item.seat == Seat::kScope) order_[i] = order_[i + 1];
    }
  }

  void mark_outputs(const std::vector<std::string>& outputs) {
    for (const std::string& output : outputs) {
      const NodeId id = index_.names().find(node_of(output));
      if (id == kNoNode || item_of_[index_of(id)] == kNoItem) continue;
      Item& item = sheet_.items[item_of_[index_of(id)]];
      if (item.look == Look::kPlain) item.look = Look::kOutput;
    }
  }

  void edges_of_items() {
    std::vector<uint32_t> begins(sheet_.items.size() + 1, 0);
    for (SheetEdge& edge : edges_) {
      edge.from = item_of_[edge.from];
      edge.to = item_of_[edge.to];
      ++begins[edge.to + 1];
    }
    for (size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
    sheet_.edges.resize(edges_.size());
    for (const SheetEdge& edge : edges_) sheet_.edges[begins[edge.to]++] = edge;
    // A Const that one node reads is found there.
    for (const SheetEdge& edge : sheet_.edges) {
      Item& from = sheet_.items[edge.from];
      if (from.seat == Seat::kConst && from.host == kNoItem) from.host = edge.to;
    }
  }

  const GraphIndex& index_;
  const Graph& graph_;
  OpDefs& ops_;
  const SheetOptions& options_;
  const NodeSet* hits_;
  const GraphShapes* shapes_;
  Sheet sheet_;
  Wiring wiring_;
  std::vector<SheetEdge> edges_;  // between vertices
  std::vector<bool> keep_;
  std::vector<uint32_t> item_of_, order_;
};

}  // namespace

std::string item_path(const Sheet& sheet, uint32_t item) {
  std::vector<std::string_view> names;
  for (uint32_t i = item; i != 0; i = sheet.items[i].parent) {
    if (sheet.items[i].seat != Seat::kGroup && !sheet.items[i].self) names.push_back(sheet.items[i].name);
  }
  std::string path;
  for (size_t i = names.size(); i-- > 0;) {
    path += names[i];
    if (i > 0) path += '/';
  }
  return path;
}

std::vector<Sheet> make_sheets(Model& model, Registry& ops, const SheetOptions& options) {
  std::vector<Sheet> sheets;
  OpDefs defs(ops);
  Graph& graph = model.graph();
  graph.decode();
  AroundGraph surroundings{initializers(model.meta()), {}};
  const GraphIndex index(graph);
  for (const TensorSummary& output : summarize(model, model.selected, ops, index).outputs)
    surroundings.outputs.push_back(output.tensor);
  const Selection* selection = options.selection;
  const auto like = std::make_shared<const LikeNodes>(graph);
  InferRequest request;
  request.like = like.get();
  Inference shapes(index, ops, request);
  sheets.push_back(SheetMaker(index, like, defs, options, selection == nullptr ? nullptr : &selection->nodes,
                              &shapes.main())
                       .run(surroundings));
  Library library = Library::decode(graph.part(graph_field::kLibrary), model.arena);
  const std::vector<size_t> entries = entry_functions(model, library);
  for (size_t i = 0; i < library.functions.size(); ++i) {
    const NodeSet* hits = nullptr;
    if (selection != nullptr) {
      const auto found = selection->in_functions.find(i);
      if (found == selection->in_functions.end() || found->second.empty()) continue;
      hits = &found->second;
    }
    Function& function = library.functions[i];
    function.body.decode();
    const GraphIndex body(function.body);
    sheets.push_back(SheetMaker(body, std::make_shared<const LikeNodes>(function.body), defs, options, hits,
                                shapes.function(function.name))
                         .run({}));
    sheets.back().function = function.name;
    const auto entry = std::find(entries.begin(), entries.end(), i);
    if (entry != entries.end())
      sheets.back().entry = static_cast<uint32_t>(std::distance(entries.begin(), entry)) + 1;
  }
  return sheets;
}

}  // namespace gedit
