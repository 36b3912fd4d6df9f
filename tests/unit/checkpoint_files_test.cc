// Checkpoints as files: real ones, where they are at hand, and damaged ones.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/wire.h"
#include "checkpoint/objects.h"
#include "checkpoint/open.h"
#include "checkpoint/slice_key.h"
#include "checkpoint/v1.h"
#include "checkpoint/values.h"
#include "checkpoint/verify.h"
#include "checkpoint/write.h"
#include "checkpoint_folder.h"
#include "corpus_files.h"

namespace gedit::checkpoint_test {

std::vector<std::string> corpus_prefixes() {
  std::vector<std::string> prefixes;
  for (const std::string& path : corpus_files()) {
    if (path.ends_with(".index")) prefixes.push_back(path.substr(0, path.size() - 6));
  }
  return prefixes;
}

// The records of a table, in order.
std::vector<std::pair<std::string, std::string>> records(const Table& table) {
  std::vector<std::pair<std::string, std::string>> all;
  for (size_t i = 0; i < table.blocks(); ++i) {
    std::string unpacked;
    for (BlockReader reader(table.block(i, unpacked)); reader.next();)
      all.emplace_back(reader.key(), reader.value());
  }
  return all;
}

TEST(Corpus, IndexesRoundTrip) {
  const auto prefixes = corpus_prefixes();
  size_t same = 0;
  for (const std::string& prefix : prefixes) {
    const Folder folder;
    const Checkpoint checkpoint = read_bundle(prefix);
    OutputFile out(folder("out.index"), false);
    write_index(checkpoint, out);
    out.commit();
    EXPECT_EQ(records(Table(InputFile::open(index_path(prefix)))),
              records(Table(InputFile::open(folder("out.index")))))
        << prefix;
    const Table table(InputFile::open(index_path(prefix)));
    std::string unpacked;
    table.block(0, unpacked);
    if (!unpacked.empty()) continue;  // compressed, by an old writer
    EXPECT_EQ(read_file(index_path(prefix)), read_file(folder("out.index"))) << prefix;
    ++same;
  }
  EXPECT_GE(same, at_least(15, 60)) << "of " << prefixes.size();
}

TEST(Corpus, VerifiesAndPacks) {
  size_t complete = 0;
  for (const std::string& prefix : corpus_prefixes()) {
    const Checkpoint checkpoint = read_bundle(prefix);
    const auto faults = verify_checkpoint(checkpoint);
    if (!faults.empty() && faults[0].rule == "file") continue;
    EXPECT_TRUE(faults.empty()) << prefix << ": " << (faults.empty() ? "" : faults[0].message);
    ++complete;
    const Folder folder;
    write_checkpoint(checkpoint, folder("out"), {.pack = true});
    const Checkpoint packed = open_checkpoint(folder("out"));
    EXPECT_TRUE(verify_checkpoint(packed).empty()) << prefix;
    DataFiles before(checkpoint), after(packed);
    ASSERT_EQ(names_of(checkpoint), names_of(packed));
    for (size_t i = 0; i < packed.tensors.size(); ++i) {
      EXPECT_EQ(tensor_bytes(before, checkpoint.tensors[i]).view(),
                tensor_bytes(after, packed.tensors[i]).view());
    }
  }
  EXPECT_GE(complete, at_least(15, 40));
}

TEST(Corpus, OldCheckpoints) {
  const Checkpoint checkpoint =
      open_checkpoint(std::string(GEDIT_SOURCE_DIR) + "/testdata/v1_checkpoint/model.chkpt-0");
  EXPECT_EQ(checkpoint.version, 1);
  EXPECT_TRUE(verify_checkpoint(checkpoint).empty());
  const Folder folder;
  write_checkpoint(checkpoint, folder("out"));
  const Checkpoint written = open_checkpoint(folder("out"));
  EXPECT_EQ(written.version, 2);
  EXPECT_EQ(names_of(written), names_of(checkpoint));
  EXPECT_TRUE(verify_checkpoint(written).empty());
}

TEST(Corpus, ObjectGraphsRoundTrip) {
  for (const std::string& prefix : corpus_prefixes()) {
    const Checkpoint checkpoint = read_bundle(prefix);
    if (!checkpoint.object_based() || !exists(shard_path(prefix, 0, checkpoint.shards.size()))) continue;
    const std::string bytes = load_object_graph(checkpoint);
    ObjectGraph graph = parse_object_graph(bytes);
    EXPECT_EQ(object_graph_bytes(graph), bytes) << prefix;
    for (auto& object : graph.objects) object.changed = true;
    EXPECT_EQ(parse_object_graph(object_graph_bytes(graph)).objects.size(), graph.objects.size());
    // TensorFlow's keys are made of these paths.
    const auto paths = object_paths(graph.objects);
    for (size_t i = 0; i < paths.size(); ++i) {
      for (const auto& attribute : graph.objects[i].attributes) {
        if (paths[i].empty()) continue;
        EXPECT_EQ(object_path(attribute.key), paths[i]) << prefix;
      }
    }
  }
}

// Every damaged byte of an index is refused, or changes nothing that is read unchecked.
TEST(Hostile, DamagedIndexesAreRefused) {
  const Folder folder;
  Checkpoint checkpoint = with_names({"a", "b", "c/d"});
  write_checkpoint(checkpoint, folder("x"));
  const std::string index = read_file(folder("x.index"));
  for (size_t i = 0; i < index.size(); ++i) {
    std::string damaged = index;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    write_file(folder("y.index"), damaged);
    refusal([&] { open_checkpoint(folder("y")); });
    write_file(folder("y.index"), index.substr(0, i));
    EXPECT_NE(refusal([&] { read_bundle(folder("y")); }), "") << i;
  }
}

// An index of these records, whatever they say.
void write_table(const std::string& path, const std::vector<std::pair<std::string, std::string>>& records) {
  OutputFile out(path, true);
  TableWriter table(out);
  for (const auto& [key, value] : records) table.add(key, value);
  table.finish();
  out.commit();
}

TEST(Hostile, SenselessIndexesAreRefused) {
  const Folder folder;
  const auto open = [&](const std::vector<std::pair<std::string, std::string>>& records) {
    write_table(folder("x.index"), records);
    std::string what = refusal([&] { read_bundle(folder("x")); });
    return what.substr(std::min(what.size(), folder("x.index").size() + 2));
  };
  std::string header;
  append_varint_field(header, 1, 1);
  const auto entry = [](const std::vector<int64_t>& shape, Place place) {
    return make_entry(DType::kFloat, shape, place);
  };
  EXPECT_EQ(open({{"", header}, {"w", entry({2}, {.size = 8})}}), "");
  EXPECT_EQ(open({{"w", entry({2}, {})}}), "has no header");
  EXPECT_EQ(open({{"", "\x08\xff\xff\xff\xff\x07"}}),
            "key '': counts 2147483647 data files, at most 99999 are read");
  EXPECT_EQ(open({{"", "\x10\x07"}}), "key '': byte order 7 is unknown");
  EXPECT_EQ(open({{"", header}, {"w", entry({2}, {.shard = 1})}}), "tensor 'w': lies in data file 1 of 1");
  EXPECT_EQ(open({{"", header}, {"w", entry({-1}, {})}}), "tensor 'w': shape has the size -1");
  EXPECT_EQ(open({{"", header}, {"w", entry({INT64_MAX, 3}, {})}}), "tensor 'w': shape overflows");
  EXPECT_EQ(open({{"", header}, {"w", entry({}, {.offset = UINT64_MAX, .size = 8})}}),
            "tensor 'w': offset is negative");
  EXPECT_EQ(open({{"", header}, {"w", entry({}, {.offset = INT64_MAX, .size = INT64_MAX})}}),
            "tensor 'w': offset and size overflow");
  EXPECT_EQ(open({{"", header}, {"w", "\x12\xff"}}).substr(0, 20), "tensor 'w': entry is");
  EXPECT_EQ(open({{"", header}, {slice_key("t", {{0, 1}}), entry({1}, {})}}),
            "tensor 't': has a slice, but no entry");
  EXPECT_EQ(open({{"", header}, {std::string("\0t", 2), ""}}), "key '\\000t': is not the key of a slice");
  EXPECT_EQ(open({{"", header}, {"w", make_entry(DType::kFloat, std::vector<int64_t>(300, 1), {})}}),
            "tensor 'w': shape has more than 254 dimensions");
}

// Of many blocks, which several threads read: the records in order, and of several faults the first.
TEST(Hostile, OfALongIndexTheFirstFaultIsTold) {
  constexpr int kTensors = 20000;
  const Folder folder;
  const std::string path = folder("x.index");
  const auto name = [](int number) { return std::to_string(100000 + number) + '/' + std::string(60, 'n'); };
  std::string header;
  append_varint_field(header, 1, 1);
  std::vector<std::pair<std::string, std::string>> records{{"", header}};
  const std::vector<Slice> in_slices{{.extents = {{0, 1}}, .place = {}, .record = {}}};
  records.emplace_back(slice_key(name(3), in_slices[0].extents), make_entry(DType::kFloat, {1}, {.size = 4}));
  for (int i = 0; i < kTensors; ++i)
    records.emplace_back(name(i), make_entry(DType::kFloat, {i}, {.offset = uint64_t(i), .size = 4},
                                             i == 3 ? in_slices : std::vector<Slice>{}));
  write_table(path, records);
  ASSERT_GT(read_file(path).size(), size_t{4} << 18);  // blocks are of 256 KiB
  const Checkpoint read = read_bundle(folder("x"));
  ASSERT_EQ(read.tensors.size(), size_t{kTensors});
  for (int i = 0; i < kTensors; ++i) {
    const Tensor& tensor = read.tensors[i];
    ASSERT_EQ(tensor.name, name(i));
    ASSERT_EQ(tensor.shape, std::vector<int64_t>{i});
    ASSERT_EQ(tensor.record, records[2 + i].second);
    ASSERT_EQ(tensor.place.offset, uint64_t(i));
    ASSERT_EQ(tensor.partitioned(), i == 3);
  }
  const auto fault = [&](const std::vector<std::pair<int, std::string>>& changes) {
    auto changed = records;
    for (const auto& [number, record] : changes) changed[2 + number].second = record;
    write_table(path, changed);
    return refusal([&] { read_bundle(folder("x")); }).substr(path.size() + 2);
  };
  const std::string elsewhere = make_entry(DType::kFloat, {1}, {.shard = 7});
  const std::string sliced = make_entry(DType::kFloat, {1}, {}, in_slices);
  EXPECT_EQ(fault({{15000, elsewhere}, {18000, "\x12\xff"}}),
            "tensor '" + name(15000) + "': lies in data file 7 of 1");
  EXPECT_EQ(fault({{15000, sliced}}), "tensor '" + name(15000) + "': is in slices, but none is there");
}

}  // namespace gedit::checkpoint_test
