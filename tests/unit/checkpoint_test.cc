// Checkpoints: indexes, edits, linked and packed output; real files where they are at hand.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/wire.h"
#include "checkpoint/edit.h"
#include "checkpoint/objects.h"
#include "checkpoint/open.h"
#include "checkpoint/print.h"
#include "checkpoint/slice_key.h"
#include "checkpoint/state.h"
#include "checkpoint/v1.h"
#include "checkpoint/values.h"
#include "checkpoint/verify.h"
#include "checkpoint/write.h"
#include "corpus_files.h"
#include "select/keys.h"

namespace gedit::checkpoint_test {

namespace fs = std::filesystem;

// An empty folder for one test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "gedit-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  std::string operator()(const std::string& name) const { return (path_ / name).string(); }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  fs::path path_;
};

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

ino_t inode(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_ino;
}

std::string floats(std::vector<float> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
}

// Tensors of one float each, whose value is their position.
Checkpoint with_names(const std::vector<std::string>& names) {
  Checkpoint checkpoint;
  checkpoint.prefix = "memory";
  float value = 0;
  for (const std::string& name : names) add_tensor(checkpoint, name, DType::kFloat, {}, floats({value++}));
  sort_tensors(checkpoint);
  return checkpoint;
}

std::vector<std::string> names_of(const Checkpoint& checkpoint) {
  std::vector<std::string> names;
  for (const Tensor& tensor : checkpoint.tensors) names.push_back(tensor.name);
  return names;
}

std::string text_of(const Checkpoint& checkpoint, std::string_view name) {
  DataFiles files(checkpoint);
  const Tensor& tensor = require_tensor(checkpoint, name);
  StringSink out;
  print_text(tensor.dtype, tensor.shape, tensor_bytes(files, tensor).view(), out);
  out.text.pop_back();
  return out.text;
}

template <typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

Renaming renaming(const std::vector<std::string>& pairs, const std::vector<std::string>& seds = {}) {
  Renaming made;
  for (const std::string& pair : pairs) made.add(parse_name_pair(pair));
  for (const std::string& sed : seds) made.add_sed(sed);
  return made;
}

TEST(Renaming, PairsApplyAtOnce) {
  const Renaming r = renaming({"a=b", "b=a", "s/=t/", "s/deep/=u/", "gone/=", "c/x=c/y"});
  const std::map<std::string, std::string> want{
      {"a", "b"},       {"b", "a"},          {"s", "t"},       {"s/x", "t/x"}, {"s/deep/x", "u/x"},
      {"sa/x", "sa/x"}, {"gone/x/y", "x/y"}, {"gone", "gone"}, {"c/x", "c/y"}, {"c/x/z", "c/x/z"}};
  for (const auto& [from, to] : want) EXPECT_EQ(r.apply(from), to) << from;
  EXPECT_EQ(renaming({"/=top/"}).apply("a/b"), "top/a/b");
  EXPECT_EQ(renaming({"a=b"}).apply("a/x", true), "b/x");
  EXPECT_EQ(renaming({}, {"s#^tower_(\\d)/#t\\1/#"}).apply("tower_3/w"), "t3/w");
  EXPECT_EQ(renaming({}, {"s/a/b/g"}).apply("banana"), "bbnbnb");
  EXPECT_EQ(renaming({}, {"s/\\//./"}).apply("a/b/c"), "a.b/c");
}

TEST(Renaming, RefusesWhatIsNone) {
  EXPECT_EQ(refusal([] { renaming({"a"}); }), "'a': is not OLD=NEW");
  EXPECT_EQ(refusal([] { renaming({"a="}); }), "'a=': NEW is empty");
  EXPECT_EQ(refusal([] { renaming({"a/=b"}); }), "'a/=b': OLD is a scope, NEW a name; hint: a/=b/");
  EXPECT_EQ(refusal([] { renaming({"a=b", "a=c"}); }), "'a=c': OLD is given twice");
  EXPECT_EQ(refusal([] { renaming({}, {"s/a/b"}); }), "'s/a/b': is not s/RE/REPL/[g]");
  EXPECT_NE(refusal([] { renaming({}, {"s/(/b/"}); }), "");
  EXPECT_NE(refusal([] { renaming({}, {"s/a/\\1/"}); }), "");
}

TEST(Edit, RenameCopyDrop) {
  Checkpoint checkpoint = with_names({"a/b", "a/w", "ab/w", "step"});
  Renaming r = renaming({"a/w=decoder/kernel", "step=a/w"});
  KeyChanges changes;
  rename_tensors(checkpoint, r, &changes);
  EXPECT_EQ(changes.size(), 2U);
  EXPECT_EQ(names_of(checkpoint), (std::vector<std::string>{"a/b", "a/w", "ab/w", "decoder/kernel"}));
  EXPECT_EQ(text_of(checkpoint, "decoder/kernel"), "1.0");
  copy_tensors(checkpoint, {parse_name_pair("a/=c/"), parse_name_pair("ab/w=x")});
  EXPECT_EQ(names_of(checkpoint),
            (std::vector<std::string>{"a/b", "a/w", "ab/w", "c/b", "c/w", "decoder/kernel", "x"}));
  EXPECT_EQ(checkpoint.find("c/b")->place, checkpoint.find("a/b")->place);
  drop_tensors(checkpoint, select_tensors(checkpoint, parse_selector("a*/*")));
  EXPECT_EQ(names_of(checkpoint), (std::vector<std::string>{"c/b", "c/w", "decoder/kernel", "x"}));
}

TEST(Edit, Refusals) {
  const Checkpoint checkpoint = with_names({"a/b", "a/w", "c"});
  const auto rename = [&](const std::string& pair) {
    return refusal([&] {
      Checkpoint copy = checkpoint;
      Renaming r = renaming({pair});
      rename_tensors(copy, r);
    });
  };
  EXPECT_EQ(rename("a/v=x"), "memory: tensor 'a/v': no such tensor; hint: did you mean 'a/b'?");
  EXPECT_EQ(rename("a=x"), "memory: tensor 'a': no such tensor; hint: 'a/' is a scope");
  EXPECT_EQ(rename("b/=x/"), "memory: selector 'b/': matches nothing");
  EXPECT_EQ(rename("a/w=c"), "memory: 'a/w=c': 'c' is taken; hint: rename that too");
  EXPECT_EQ(refusal([&] {
              Checkpoint copy = checkpoint;
              copy_tensors(copy, {parse_name_pair("a/w=c")});
            }),
            "memory: 'a/w=c': 'c' is taken");
}

TEST(Edit, MergeIsTheUnion) {
  Checkpoint a = with_names({"w", "x"}), b = with_names({"x", "y"});
  a.prefix = "a";
  b.prefix = "b";
  EXPECT_EQ(refusal([&] {
              merge_checkpoints({{"", a}, {"", b}}, OnConflict::kError);
            }),
            "b: tensor 'x': already in a; hint: name them (a=a b=b) or use --on-conflict first|last");
  EXPECT_EQ(text_of(merge_checkpoints({{"", a}, {"", b}}, OnConflict::kFirst), "x"), "1.0");
  EXPECT_EQ(text_of(merge_checkpoints({{"", a}, {"", b}}, OnConflict::kLast), "x"), "0.0");
  EXPECT_EQ(names_of(merge_checkpoints({{"l", a}, {"r", b}}, OnConflict::kError)),
            (std::vector<std::string>{"l/w", "l/x", "r/x", "r/y"}));
}

TEST(Edit, MergeUnitesSlices) {
  const auto part = [](Extents extents, float first) {
    Checkpoint checkpoint = with_names({});
    add_tensor(checkpoint, "t", DType::kFloat, {2}, floats({first, first + 1}));
    Tensor& tensor = checkpoint.tensors.back();
    tensor.slices.push_back({.extents = std::move(extents), .place = tensor.place, .record = {}});
    tensor.shape = {4};
    tensor.place = {};
    return checkpoint;
  };
  Checkpoint merged =
      merge_checkpoints({{"", part({{0, 2}}, 1)}, {"", part({{2, 2}}, 3)}}, OnConflict::kError);
  EXPECT_EQ(text_of(merged, "t"), "[1.0, 2.0, 3.0, 4.0]");
  EXPECT_NE(refusal([&] {
              merge_checkpoints({{"", part({{0, 2}}, 1)}, {"", part({{1, 2}}, 3)}, {"", part({{0, 2}}, 3)}},
                                OnConflict::kError);
            }),
            "");
}

TEST(Select, Keys) {
  Checkpoint checkpoint =
      with_names({"bert/w", "bert/w/adam_m", "beta1_power", "m/k/.ATTRIBUTES/VARIABLE_VALUE"});
  const auto hits = [&](std::string_view selector) {
    std::string text;
    for (const bool hit : require_tensors(checkpoint, selector)) text += hit ? '1' : '0';
    return text;
  };
  EXPECT_EQ(hits("**/adam_[mv], beta?_power"), "0110");
  EXPECT_EQ(hits("bert/"), "1100");
  EXPECT_EQ(hits("re:/adam"), "0100");
  EXPECT_EQ(hits("m/k"), "0001");
  EXPECT_EQ(refusal([&] { hits("m"); }), "memory: selector 'm': matches nothing; hint: 'm/' is a scope");
  EXPECT_EQ(hits("!m/ & dtype:float32"), "1110");
  EXPECT_EQ(hits("size>=4"), "1111");
  EXPECT_EQ(refusal([&] { hits("bart/"); }),
            "memory: selector 'bart/': matches nothing; hint: did you mean 'bert/'?");
  EXPECT_NE(refusal([&] { hits("op:Add"); }), "");
}

TEST(Write, LinksDataAndSharesBytes) {
  const Folder folder;
  write_checkpoint(with_names({"a", "b"}), folder("x"));
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"x.data-00000-of-00001", "x.index"}));
  Checkpoint checkpoint = open_checkpoint(folder("x"));
  copy_tensors(checkpoint, {parse_name_pair("a=c")});
  write_checkpoint(checkpoint, folder("y"));
  EXPECT_EQ(inode(folder("x.data-00000-of-00001")), inode(folder("y.data-00000-of-00001")));
  EXPECT_EQ(text_of(open_checkpoint(folder("y")), "c"), "0.0");
  write_checkpoint(checkpoint, folder("z"), {.copy_data = true});
  EXPECT_NE(inode(folder("x.data-00000-of-00001")), inode(folder("z.data-00000-of-00001")));
  EXPECT_EQ(refusal([&] { write_checkpoint(checkpoint, folder("y")); }),
            folder("y.index") + ": exists; hint: -O overwrites it");
  EXPECT_EQ(folder.files().size(), 6U);
}

TEST(Write, InPlaceReplacesTheIndexAlone) {
  const Folder folder;
  write_checkpoint(with_names({"a", "b"}), folder("x"));
  const ino_t data = inode(folder("x.data-00000-of-00001")), index = inode(folder("x.index"));
  Checkpoint checkpoint = open_checkpoint(folder("x"));
  Renaming r = renaming({"a=z"});
  rename_tensors(checkpoint, r);
  write_checkpoint(checkpoint, folder("x"), {.overwrite = true});
  EXPECT_EQ(inode(folder("x.data-00000-of-00001")), data);
  EXPECT_NE(inode(folder("x.index")), index);
  EXPECT_EQ(names_of(open_checkpoint(folder("x"))), (std::vector<std::string>{"b", "z"}));
  EXPECT_EQ(folder.files().size(), 2U);
}

TEST(Write, PacksAndDividesAndReplaces) {
  const Folder folder;
  Checkpoint checkpoint = with_names({"a", "b", "c", "d"});
  copy_tensors(checkpoint, {parse_name_pair("a=e")});
  write_checkpoint(checkpoint, folder("x"), {.pack = true, .shards = 2});
  EXPECT_EQ(folder.files(),
            (std::vector<std::string>{"x.data-00000-of-00002", "x.data-00001-of-00002", "x.index"}));
  checkpoint = open_checkpoint(folder("x"));
  EXPECT_EQ(checkpoint.find("e")->place, checkpoint.find("a")->place);
  EXPECT_TRUE(verify_checkpoint(checkpoint).empty());
  // Three files take the place of two.
  write_checkpoint(checkpoint, folder("x"), {.overwrite = true, .pack = true, .max_size = 6});
  EXPECT_EQ(folder.files().size(), 5U);
  // A dropped tensor's bytes are left behind.
  checkpoint = open_checkpoint(folder("x"));
  drop_tensors(checkpoint, select_tensors(checkpoint, parse_selector("b")));
  EXPECT_EQ(write_checkpoint(checkpoint, folder("y"), {.pack = true}).data_bytes, 12U);
}

TEST(Write, FailureLeavesNothing) {
  const Folder folder;
  write_checkpoint(with_names({"a"}), folder("x"));
  Checkpoint checkpoint = open_checkpoint(folder("x"));
  fs::remove(folder("x.data-00000-of-00001"));
  EXPECT_EQ(refusal([&] { write_checkpoint(checkpoint, folder("y")); }),
            folder("x") + ": x.data-00000-of-00001: no such file");
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"x.index"}));
  EXPECT_EQ(
      refusal([&] { write_checkpoint(checkpoint, folder("")); }).find("a directory") == std::string::npos,
      false);
}

TEST(Verify, FindsFaults) {
  const Folder folder;
  write_checkpoint(with_names({"a", "b"}), folder("x"));
  const auto faults = [&](Checkpoint checkpoint) {
    std::string text;
    for (const Fault& fault : verify_checkpoint(checkpoint))
      text += fault.rule + " " + fault.subject + ": " + fault.message + "\n";
    return text;
  };
  const Checkpoint good = open_checkpoint(folder("x"));
  EXPECT_EQ(faults(good), "");
  Checkpoint bad = good;
  bad.tensors[0].place.offset = 3;
  EXPECT_EQ(faults(bad),
            "checksum tensor 'a': checksum differs\noverlap tensor 'b': bytes 4 to 8 overlap those of tensor "
            "'a'\n");
  bad = good;
  bad.tensors[1].place.offset = 100;
  EXPECT_EQ(faults(bad), "range tensor 'b': bytes 100 to 104 lie outside x.data-00000-of-00001 (8 bytes)\n");
  bad = good;
  bad.tensors[1].shape = {7};
  EXPECT_EQ(faults(bad), "size tensor 'b': 4 bytes are stored, its shape has 7 elements of 4\n");
  std::string data = read_file(folder("x.data-00000-of-00001"));
  data[5] ^= 1;
  write_file(folder("x.data-00000-of-00001"), data);
  EXPECT_EQ(faults(good), "checksum tensor 'b': checksum differs\n");
  fs::remove(folder("x.data-00000-of-00001"));
  EXPECT_EQ(faults(good), "file x.data-00000-of-00001: no such file\n");
}

TEST(Values, StringsComeBack) {
  const std::vector<std::string_view> strings{"", "a\"b", std::string_view("x\0y", 3)};
  const std::string bytes = string_bytes(strings);
  EXPECT_EQ(strings_of(3, bytes), strings);
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_NE(refusal([&] { strings_of(3, bytes.substr(0, i)); }), "") << i;
  }
  StringSink out;
  print_text(DType::kString, {3}, bytes, out);
  EXPECT_EQ(out.text, "[\"\", \"a\\\"b\", \"x\\000y\"]\n");
}

TEST(Values, Text) {
  const auto text = [](DType dtype, const std::vector<int64_t>& shape, const std::string& bytes) {
    StringSink out;
    print_text(dtype, shape, bytes, out);
    return out.text;
  };
  EXPECT_EQ(text(DType::kFloat, {2, 2}, floats({1, 0.1F, -2.5e30F, INFINITY})),
            "[[1.0, 0.1],\n [-2.5e+30, inf]]\n");
  EXPECT_EQ(text(DType::kFloat, {}, floats({-0.0F})), "-0.0\n");
  EXPECT_EQ(text(DType::kFloat, {2, 0, 3}, ""), "[[]]\n");
  EXPECT_EQ(text(DType::kHalf, {5}, std::string("\x66\x2e\x00\x3c\xff\x7b\x01\x00\x00\x80", 10)),
            "[0.1, 1.0, 65500.0, 6e-08, -0.0]\n");
  EXPECT_EQ(text(DType::kBfloat16, {2}, std::string("\xcd\x3d\x80\x3f", 4)), "[0.1, 1.0]\n");
  EXPECT_EQ(text(DType::kBool, {2}, std::string("\0\1", 2)), "[false, true]\n");
  EXPECT_EQ(text(DType::kComplex64, {1}, floats({1, -2})), "[1.0-2.0j]\n");
  EXPECT_EQ(text(DType::kInt8, {1, 2, 1}, "\xff\x07"), "[[[-1],\n  [7]]]\n");
}

TEST(BigEndian, IsTurnedRound) {
  const Folder folder;
  Checkpoint checkpoint = with_names({"a", "b"});
  add_tensor(checkpoint, "s", DType::kString, {1}, string_bytes({"text"}));
  write_checkpoint(checkpoint, folder("x"));
  std::string data = read_file(folder("x.data-00000-of-00001"));
  checkpoint = open_checkpoint(folder("x"));
  checkpoint.shards[0].form = Shard::Form::kBigEndian;
  std::string turned = data.substr(0, 8);
  swap_bytes(DType::kFloat, turned);
  // Of strings: the checksum of the lengths, which are hashed as the machine holds them.
  const uint32_t length = __builtin_bswap32(4);
  const uint32_t check = masked(crc32c({reinterpret_cast<const char*>(&length), 4}));
  std::string check_bytes(reinterpret_cast<const char*>(&check), 4);
  std::reverse(check_bytes.begin(), check_bytes.end());
  turned += "\x04" + check_bytes + "text";
  write_file(folder("x.data-00000-of-00001"), turned);
  for (Tensor& tensor : checkpoint.tensors) {
    tensor.place.crc32c = masked(value_crc32c(
        tensor.dtype, 1, std::string_view(turned).substr(tensor.place.offset, tensor.place.size), true));
  }
  write_checkpoint(checkpoint, folder("y"));
  EXPECT_EQ(read_file(folder("y.data-00000-of-00001")), data);
  EXPECT_EQ(text_of(open_checkpoint(folder("y")), "b"), "1.0");
}

TEST(State, Reads) {
  EXPECT_EQ(parse_state("model_checkpoint_path: \"a/b-1\"\nall_model_checkpoint_paths: \"x\"", "f").latest,
            "a/b-1");
  EXPECT_EQ(refusal([] { parse_state("model_checkpoint_path: 3", "f"); }),
            "f: not a checkpoint state file: line 1: column 24: expected string, got: 3");
  EXPECT_NE(refusal([] { parse_state("", "f"); }), "");
}

TEST(Open, FindsWhatIsMeant) {
  const Folder folder;
  fs::create_directories(folder("run"));
  write_checkpoint(with_names({"a"}), folder("run/model-2"));
  write_checkpoint(with_names({"a"}), folder("run/model-3"));
  write_file(folder("run/checkpoint"), "model_checkpoint_path: \"/gone/model-2\"\n");
  for (const char* operand : {"run", "run/", "run/checkpoint", "run/model-2", "run/model-2.index",
                              "run/model-2.meta", "run/model-2.data-00000-of-00001"}) {
    EXPECT_EQ(base_name(locate_checkpoint(folder(operand)).prefix), "model-2") << operand;
  }
  EXPECT_FALSE(locate_checkpoint(folder("run")).warning.empty());
  EXPECT_EQ(refusal([&] { locate_checkpoint(folder("run/model-22")); }),
            folder("run/model-22") + ": no such checkpoint; hint: did you mean 'model-2'?");
  EXPECT_FALSE(find_checkpoint(folder("nothing")));
}

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
