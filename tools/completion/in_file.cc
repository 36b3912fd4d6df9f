#include "completion/in_file.h"

#include "checkpoint/open.h"
#include "completion/files.h"
#include "graph/library.h"
#include "graph/node.h"
#include "model/detect.h"
#include "model/events.h"
#include "model/summary.h"

namespace gedit {
namespace {

constexpr size_t kMostText = 4 << 20;     // bytes: parsed before anything is known of it
constexpr size_t kMostEvents = 64 << 20;  // bytes: read to the last graph

bool read_at_once(const std::string& path) {
  std::string file_path = path;
  for (const char* name : {"saved_model.pb", "saved_model.pbtxt"}) {
    if (is_directory(path) && exists(join_path(path, name))) file_path = join_path(path, name);
  }
  const std::shared_ptr<const InputFile> file = InputFile::open(file_path);
  const std::string_view bytes = file->bytes();
  if (bytes.size() <= kMostText) return true;
  if (records_in(bytes) == Records::kEvents) return bytes.size() <= kMostEvents;
  return detect(bytes, file_path).format == Format::kBinary;
}

// Calls use(node_def) for each node of `message` until it says false.
template <typename Use>
bool each_node_of(std::string_view message, uint32_t node_field, Use use) {
  for (Fields fields(message); fields.next();) {
    if (fields->bytes(node_field) && !use(fields->value)) return false;
  }
  return true;
}

// Calls use(function_def) for each function until it says false. The library mostly lies behind all nodes,
// so that to find it may take longer than a person waits: enough() is asked on the way.
template <typename Enough, typename Use>
void each_function(const GraphOnLine& graph, Enough enough, Use use) {
  for (Fields fields(graph.model.graph().message()); fields.next() && !enough();) {
    if (fields->bytes(graph_field::kLibrary) && !each_node_of(fields->value, library_field::kFunction, use))
      return;
  }
}

// The nodes of the graph and those in functions.
template <typename Use>
void each_node_anywhere(const GraphOnLine& graph, Candidates& candidates, Use use) {
  const auto offered = [&](std::string_view node_def) {
    use(node_def);
    return !candidates.enough();
  };
  if (!each_node_of(graph.model.graph().message(), graph_field::kNode, offered)) return;
  each_function(
      graph, [&] { return candidates.enough(); },
      [&](std::string_view function_def) {
        return each_node_of(function_def, function_field::kNode, offered);
      });
}

}  // namespace

std::vector<GraphOnLine> graphs_of(const std::vector<FileOnLine>& files) {
  std::vector<GraphOnLine> graphs;
  for (const FileOnLine& file : files) {
    try {
      const std::string path = expanded(file.path);
      if (path == "-" || !read_at_once(path)) continue;
      graphs.push_back({file.name.empty() ? "" : file.name + "/", load(path)});
    } catch (const std::exception&) {  // a file that cannot be read has nothing to offer
    }
  }
  return graphs;
}

void NameOffer::name(std::string_view name) {
  if (!name.starts_with(start_)) return;
  const size_t slash = name.find('/', start_.size());
  if (scopes_ && slash == std::string_view::npos) return;
  const std::string_view shown =
      slash == std::string_view::npos ? name : name.substr(0, scopes_ ? slash : slash + 1);
  if (shown == last_) return;
  last_ = shown;
  std::string word = before_;
  candidates_.offer(word.append(shown));
}

void offer_nodes(const GraphOnLine& graph, NameOffer& offer) {
  if (!offer.start().starts_with(graph.prefix)) return offer.name(graph.prefix);
  const std::string start = offer.start().substr(graph.prefix.size());
  const size_t inside = start.find("//");
  const auto offer_all = [](std::string_view message, uint32_t node_field, NameOffer names) {
    return each_node_of(message, node_field, [&](std::string_view node_def) {
      names.name(any_node_name(node_def));
      return !names.enough();
    });
  };
  if (inside == std::string::npos) {
    offer_all(graph.model.graph().message(), graph_field::kNode, offer.below(graph.prefix, start));
    return;
  }
  const std::string function = start.substr(0, inside);
  NameOffer names = offer.below(graph.prefix + function + "//", start.substr(inside + 2));
  each_function(
      graph, [&] { return names.enough(); },
      [&](std::string_view function_def) {
        return function_name(function_def) != function ||
               offer_all(function_def, function_field::kNode, names);
      });
}

void offer_ops(const GraphOnLine& graph, Candidates& candidates, const std::string& before) {
  std::unordered_set<std::string_view> seen;
  each_node_anywhere(graph, candidates, [&](std::string_view node_def) {
    const std::string_view op = any_node_op(node_def);
    if (seen.insert(op).second) candidates.offer(before + std::string(op));
  });
}

void offer_attrs(const GraphOnLine& graph, Candidates& candidates, const std::string& before) {
  std::unordered_set<std::string_view> seen;
  each_node_anywhere(graph, candidates, [&](std::string_view node_def) {
    each_attr(node_def, [&](std::string_view key, std::string_view) {
      if (seen.insert(key).second) candidates.offer(before + std::string(key));
    });
  });
}

void offer_devices(const GraphOnLine& graph, Candidates& candidates, const std::string& before) {
  std::unordered_set<std::string_view> seen;
  each_node_anywhere(graph, candidates, [&](std::string_view node_def) {
    const std::string_view device = node_head(node_def).device;
    if (!device.empty() && seen.insert(device).second) candidates.offer(before + std::string(device));
  });
}

void offer_functions(const GraphOnLine& graph, Candidates& candidates, const std::string& before) {
  each_function(
      graph, [&] { return candidates.enough(); },
      [&](std::string_view function_def) {
        std::string word = before;
        candidates.offer(word.append(function_name(function_def)).append("//"));
        return !candidates.enough();
      });
}

void offer_collections(const GraphOnLine& graph, Candidates& candidates, const std::string& before) {
  for (const std::string_view entry : graph.model.meta().parts_of(meta_field::kCollection))
    candidates.offer(before + std::string(map_key(entry)));
}

void offer_signatures(const GraphOnLine& graph, Candidates& candidates, const std::string& before) {
  for (const SignatureSummary& signature : list_signatures(graph.model.meta()))
    candidates.offer(before + signature.key);
}

void offer_tags(const GraphOnLine& graph, Candidates& candidates, const std::string& before) {
  for (const MetaGraph& meta : graph.model.meta_graphs) {
    std::string set;
    for (const std::string_view tag : tags(meta)) set.append(set.empty() ? "" : ",").append(tag);
    candidates.offer(before + set);
  }
}

void offer_keys(const std::string& path, NameOffer& offer) {
  for (const Tensor& tensor : open_checkpoint(expanded(path)).tensors) {
    if (tensor.name != kObjectGraphKey) offer.name(tensor.name);
    if (offer.enough()) return;
  }
}

}  // namespace gedit
