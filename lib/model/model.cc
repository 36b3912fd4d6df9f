#include "model/model.h"

#include <algorithm>

#include "base/wire.h"

namespace gedit {
namespace {

// Fields of `bytes` in order. A field that occurs `merged` times although it is one message is joined: the
// bytes of a protobuf message put behind each other are its merge.
MetaGraph take_apart(std::string_view bytes, const std::shared_ptr<Arena>& arena) {
  std::vector<Part> parts;
  std::vector<std::string_view> graphs;
  for (Fields fields(bytes); fields.next();) {
    const bool graph = fields->bytes(meta_field::kGraph);
    if (graph) graphs.push_back(fields->value);
    if (!graph || graphs.size() == 1) parts.push_back(part_of(fields.field()));
  }
  std::string_view graph = graphs.empty() ? std::string_view() : graphs.front();
  if (graphs.size() > 1) {
    std::string merged;
    for (const std::string_view one : graphs) merged += one;
    graph = arena->keep(std::move(merged));
  }
  return {Graph(graph, graph_field::kNode, arena), std::move(parts), graphs.size() > 1};
}

}  // namespace

std::string_view MetaGraph::part(uint32_t number) const {
  std::string_view found;
  for (const Part& part : parts) {
    if (part.field == number) found = record_at(part.raw.data()).node_def;
  }
  return found;
}

bool MetaGraph::has(uint32_t number) const {
  return std::any_of(parts.begin(), parts.end(), [&](const Part& part) { return part.field == number; });
}

std::vector<std::string_view> MetaGraph::parts_of(uint32_t number) const {
  std::vector<std::string_view> found;
  for (const Part& part : parts) {
    if (part.field == number) found.push_back(record_at(part.raw.data()).node_def);
  }
  return found;
}

void MetaGraph::set_part(uint32_t number, std::string content) {
  std::vector<std::string> contents(1);  // not {content}, which would copy it
  contents[0] = std::move(content);
  set_parts(number, std::move(contents));
}

void MetaGraph::set_parts(uint32_t number, std::vector<std::string> contents) {
  const auto make = [&](std::string& content) {
    return Part{number, graph.arena()->keep(bytes_field(number, std::move(content)))};
  };
  std::vector<Part> result;
  size_t next = 0;
  size_t after = 0;  // behind what a new one goes
  for (const Part& part : parts) {
    if (part.field != number) {
      result.push_back(part);
      if (part.field < number && next == 0) after = result.size();
      continue;
    }
    if (next == contents.size()) continue;
    // What did not change stays the file's own bytes.
    const bool same = record_at(part.raw.data()).node_def == contents[next];
    result.push_back(same ? part : make(contents[next]));
    ++next;
    after = result.size();
  }
  for (; next < contents.size(); ++next) {
    result.insert(result.begin() + static_cast<std::ptrdiff_t>(after++), make(contents[next]));
  }
  parts = std::move(result);
  edited = true;
}

bool Model::edited() const {
  return std::any_of(meta_graphs.begin(), meta_graphs.end(),
                     [](const MetaGraph& meta) { return meta.edited || meta.graph.edited(); });
}

Model model_of(std::string path, Kind kind, Format format, std::string_view message,
               std::shared_ptr<Arena> arena) {
  Model model;
  model.path = std::move(path);
  model.kind = kind;
  model.format = format;
  model.arena = std::move(arena);
  model.message = message;
  switch (kind) {
    case Kind::kGraphDef:
      model.meta_graphs.push_back({Graph(message, graph_field::kNode, model.arena), {}, false});
      break;
    case Kind::kMetaGraphDef:
      model.meta_graphs.push_back(take_apart(message, model.arena));
      break;
    case Kind::kSavedModel:
      for (Fields fields(message); fields.next();) {
        model.parts.push_back(part_of(fields.field()));
        if (fields->bytes(2)) model.meta_graphs.push_back(take_apart(fields->value, model.arena));
      }
  }
  return model;
}

std::vector<std::string_view> tags(const MetaGraph& meta) {
  std::vector<std::string_view> found;
  for (Fields fields(meta.part(meta_field::kInfo)); fields.next();) {
    if (fields->bytes(4)) found.push_back(fields->value);
  }
  return found;
}

void write_meta_graph(const MetaGraph& meta, Sink& sink, Tally* tally) {
  bool graph_written = false;
  const auto write_graph = [&] {
    Counter counter;
    meta.graph.write(counter, tally);
    std::string head;
    append_tag(head, meta_field::kGraph, Wire::kBytes);
    append_varint(head, counter.size());
    sink.write(head);
    meta.graph.write(sink);
    graph_written = true;
  };
  for (const Part& part : meta.parts) {
    if (part.field == meta_field::kGraph) {
      if (meta.graph.edited() || meta.edited) {
        write_graph();
      } else {
        sink.write(part.raw);
        graph_written = true;
      }
      continue;
    }
    sink.write(part.raw);
  }
  if (!graph_written && meta.graph.edited()) write_graph();
}

void write_message(const Model& model, Sink& sink, Tally* tally) {
  if (!model.edited()) return sink.write(model.message);
  switch (model.kind) {
    case Kind::kGraphDef:
      return model.graph().write(sink, tally);
    case Kind::kMetaGraphDef:
      return write_meta_graph(model.meta(), sink, tally);
    case Kind::kSavedModel:
      break;
  }
  size_t next = 0;
  for (const Part& part : model.parts) {
    if (part.field != 2) {
      sink.write(part.raw);
      continue;
    }
    const MetaGraph& meta = model.meta_graphs[next++];
    if (!meta.edited && !meta.graph.edited()) {
      sink.write(part.raw);
      continue;
    }
    Counter counter;
    write_meta_graph(meta, counter, &meta == &model.meta() ? tally : nullptr);
    std::string head;
    append_tag(head, 2, Wire::kBytes);
    append_varint(head, counter.size());
    sink.write(head);
    write_meta_graph(meta, sink);
  }
}

void rethrow(const Model& model, const Malformed& error) {
  const bool in_file = model.file != nullptr && model.file->holds(model.message);
  rethrow_in(error, in_file ? model.file->bytes() : model.message, model.path);
}

void rethrow(const Model& model, const Error& error) { throw error.in(model.path); }

}  // namespace gedit
