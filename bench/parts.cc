// What the parts of the library cost, each alone, on a graph, a listing and a table that are made in memory.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/file.h"
#include "checkpoint/bundle.h"
#include "checkpoint/table.h"
#include "checkpoint/write.h"
#include "edit/edits.h"
#include "graph/arena.h"
#include "graph/edges.h"
#include "graph/graph.h"
#include "graph/listing.h"
#include "graph/mapping.h"
#include "graph/names.h"
#include "graph/node.h"
#include "graph/prefix.h"
#include "graph/scanner.h"
#include "model/kind.h"
#include "model/model.h"
#include "ops/registry.h"

namespace gedit {
namespace {

constexpr uint32_t kBlocks = 20000, kNodesOfBlock = 5, kTensors = 100000;
constexpr uint32_t kNodeField = 1;  // of GraphDef
constexpr std::string_view kPrefix = "p/";

// One chain of residual blocks, as make_graphs.py has it: a GraphDef, about 180 bytes a node.
std::string chain() {
  const std::string kernel_value =
      "\x42\x4e\x08\x01\x12\x08\x12\x02\x08\x04\x12\x02\x08\x04\x22\x40" + std::string(64, '\x3c');
  std::string graph, before = "input";
  const auto add = [&graph](NodeBuilder& node) { append_bytes_field(graph, kNodeField, node.take()); };
  for (uint32_t i = 0; i < kBlocks; ++i) {
    const std::string scope = fmt::format("resnet_v2_50/stage_{}/block_{}/bottleneck", i / 1000, i);
    const std::string kernel = scope + "/conv/kernel", conv = scope + "/conv/Conv2D", sum = scope + "/add";
    add(NodeBuilder(kernel, "Const").type("dtype", DType::kFloat).attr("value", kernel_value));
    add(NodeBuilder(kernel + "/read", "Identity")
            .input(kernel)
            .type("T", DType::kFloat)
            .attr("_class", string_list_value({"loc:@" + kernel})));
    add(NodeBuilder(conv, "Conv2D")
            .input(before)
            .input(kernel + "/read")
            .type("T", DType::kFloat)
            .attr("data_format", string_value("NHWC"))
            .attr("padding", string_value("SAME")));
    add(NodeBuilder(sum, "AddV2").input(conv).input(before).type("T", DType::kFloat));
    before = scope + "/Relu";
    add(NodeBuilder(before, "Relu").input(sum).type("T", DType::kFloat));
  }
  return graph;
}

// Everything under kPrefix, the general way: it does not say that this is all that it does.
class Prefixed final : public Mapping {
 public:
  void node(std::string_view name, std::string& out) const override {
    out += kPrefix;
    out += name;
  }
};

// A file that is only in memory.
std::shared_ptr<const InputFile> file_of(std::string_view bytes) {
  const int descriptor = memfd_create("bench", MFD_CLOEXEC);
  if (descriptor < 0) throw Error(Cause::kWrite, "no file in memory");
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (count <= 0) throw Error(Cause::kWrite, "no room for a file in memory");
    done += static_cast<size_t>(count);
  }
  auto file = InputFile::open(fmt::format("/proc/self/fd/{}", descriptor));
  ::close(descriptor);
  return file;
}

std::string index_of_checkpoint() {
  StringSink out;
  TableWriter table(out);
  table.add("", std::string_view("\x08\x01\x1a\x02\x08\x01", 6));  // one shard, version 1
  for (uint32_t i = 0; i < kTensors; ++i) {
    const Place place{.shard = 0, .offset = uint64_t{16} * i, .size = 16, .crc32c = i};
    table.add(fmt::format("block_{:05}/layer_{}/kernel", i / 10, i % 10),
              make_entry(DType::kFloat, {4}, place));
  }
  table.finish();
  return out.text;
}

// What is measured on, made once.
struct Data {
  std::string message = chain();
  std::shared_ptr<Arena> arena = std::make_shared<Arena>();
  Graph graph{message, kNodeField, arena};
  std::vector<std::string> lines;  // the listing
  std::shared_ptr<const InputFile> index = file_of(index_of_checkpoint());

  Data() {
    graph.decode();
    for (uint32_t i = 0; i < graph.size(); ++i) {
      print_node(lines.emplace_back(), graph.bytes(NodeId{i}), true);
    }
  }
};

using Part = void (*)(const Data& data);

void decode(const Data& data) {
  Graph graph(data.message, kNodeField, data.arena);
  graph.decode();
  benchmark::DoNotOptimize(graph.size());
}

void names(const Data& data) {
  const Names names(data.graph);
  benchmark::DoNotOptimize(names.duplicates().size());
}

void find(const Data& data) {
  static const Names names(data.graph);
  for (uint32_t i = 0; i < data.graph.size(); ++i) {
    benchmark::DoNotOptimize(names.find(data.graph.name(NodeId{i})));
  }
}

void edges(const Data& data) {
  static const Names names(data.graph);
  const Edges edges = producers(data.graph, names);
  benchmark::DoNotOptimize(edges.complete());
}

void closure(const Data& data) {
  static const Names names(data.graph);
  static const Edges edges = producers(data.graph, names);
  NodeSet last(data.graph.size());
  last.add(NodeId{data.graph.size() - 1});
  benchmark::DoNotOptimize(reach(last, edges, kAnyDistance).count());
}

void general_mapping(const Data& data) {
  const Prefixed mapping;
  Pieces pieces;
  for (uint32_t i = 0; i < data.graph.size(); ++i) {
    pieces.clear();
    map_node(data.graph.bytes(NodeId{i}), mapping, pieces, NodeId{i});
    benchmark::DoNotOptimize(pieces.size());
  }
}

void prefixes(const Data& data) {
  std::vector<char> room(kPrefixRoom);
  const Prefixing prefixing{std::string(kPrefix)};
  for (uint32_t i = 0; i < data.graph.size(); ++i) {
    benchmark::DoNotOptimize(prefix_node(data.graph.bytes(NodeId{i}), prefixing, room.data()));
  }
}

void rename_all(const Data& data) {
  Model model = model_of("bench", Kind::kGraphDef, Format::kBinary, data.message, data.arena);
  Registry ops;
  rename(model, ops, {.pairs = {"/=p/"}, .expressions = {}});
  Counter sink;
  write_message(model, sink);
  benchmark::DoNotOptimize(sink.size());
}

void print(const Data& data) {
  std::string line;
  for (uint32_t i = 0; i < data.graph.size(); ++i) {
    line.clear();
    print_node(line, data.graph.bytes(NodeId{i}), true);
    benchmark::DoNotOptimize(line.data());
  }
}

void parse(const Data& data) {
  for (const std::string& line : data.lines) {
    Scanner scanner(line);
    benchmark::DoNotOptimize(parse_node(scanner).size());
  }
}

void checksum(const Data& data) { benchmark::DoNotOptimize(crc32c(data.message)); }

void read_table(const Data& data) {
  const Table table(data.index);
  std::string unpacked;
  size_t bytes = 0;
  for (size_t i = 0; i < table.blocks(); ++i) {
    for (BlockReader records(table.block(i, unpacked)); records.next();) bytes += records.value().size();
  }
  benchmark::DoNotOptimize(bytes);
}

void read_checkpoint(const Data& data) {
  benchmark::DoNotOptimize(read_index(data.index, "bench").tensors.size());
}

void write_checkpoint(const Data& data) {
  static const Checkpoint checkpoint = read_index(data.index, "bench");
  Counter sink;
  write_index(checkpoint, sink);
  benchmark::DoNotOptimize(sink.size());
}

// `items` and `bytes` go through `part` each time; what it makes only once is made before the clock starts.
void add(const std::string& name, Part part, const std::shared_ptr<const Data>& data, uint64_t items,
         uint64_t bytes) {
  const auto run = [part, data, items, bytes](benchmark::State& state) {
    part(*data);
    for (auto _ : state) part(*data);
    state.counters["items"] =
        benchmark::Counter(static_cast<double>(items), benchmark::Counter::kIsIterationInvariantRate);
    state.counters["each"] =
        benchmark::Counter(static_cast<double>(items),
                           benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
    state.SetBytesProcessed(static_cast<int64_t>(bytes) * state.iterations());
  };
  benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMillisecond);
}

void add_all() {
  const auto data = std::make_shared<const Data>();
  constexpr uint64_t kNodes = uint64_t{kBlocks} * kNodesOfBlock;
  const uint64_t size = data->message.size();
  uint64_t text = 0;
  for (const std::string& line : data->lines) text += line.size() + 1;
  const uint64_t table = data->index->bytes().size();

  add("graph/decode", decode, data, kNodes, size);
  add("graph/names", names, data, kNodes, size);
  add("graph/find", find, data, kNodes, size);
  add("graph/producers", edges, data, kNodes, size);
  add("graph/reach", closure, data, kNodes, size);
  add("graph/map_node", general_mapping, data, kNodes, size);
  add("graph/prefix_node", prefixes, data, kNodes, size);
  add("edit/rename", rename_all, data, kNodes, size);
  add("listing/print_node", print, data, kNodes, text);
  add("listing/parse_node", parse, data, kNodes, text);
  add("base/crc32c", checksum, data, 1, size);
  add("checkpoint/table", read_table, data, kTensors, table);
  add("checkpoint/read_index", read_checkpoint, data, kTensors, table);
  add("checkpoint/write_index", write_checkpoint, data, kTensors, table);
}

}  // namespace
}  // namespace gedit

int main(int argc, char** argv) {
  try {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    gedit::add_all();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
  } catch (const std::exception& error) {
    std::cerr << "gedit_bench: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
