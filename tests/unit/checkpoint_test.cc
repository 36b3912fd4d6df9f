// Checkpoints: indexes, edits, linked and packed output.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "base/crc32c.h"
#include "base/error.h"
#include "checkpoint/edit.h"
#include "checkpoint/open.h"
#include "checkpoint/print.h"
#include "checkpoint/state.h"
#include "checkpoint/values.h"
#include "checkpoint/verify.h"
#include "checkpoint/write.h"
#include "checkpoint_folder.h"
#include "select/keys.h"

namespace gedit::checkpoint_test {

ino_t inode(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_ino;
}

std::string text_of(const Checkpoint& checkpoint, std::string_view name) {
  DataFiles files(checkpoint);
  const Tensor& tensor = require_tensor(checkpoint, name);
  StringSink out;
  print_text(tensor.dtype, tensor.shape, tensor_bytes(files, tensor).view(), out);
  out.text.pop_back();
  return out.text;
}

Renaming renaming(const std::vector<std::string>& pairs, const std::vector<std::string>& seds = {}) {
  Renaming made;
  for (const std::string& pair : pairs) made.add(parse_name_pair(pair));
  for (const std::string& sed : seds) made.add(Substitution(sed));
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
  EXPECT_EQ(renaming({}, {"s/w/&_&/", "s/_/\\&/"}).apply("a/w"), "a/w&w");
}

TEST(Renaming, RefusesWhatIsNone) {
  EXPECT_EQ(refusal([] { renaming({"a"}); }), "'a': is no OLD=NEW");
  EXPECT_EQ(refusal([] { renaming({"a="}); }), "'a=': the new name is missing");
  EXPECT_EQ(refusal([] { renaming({"a/=b"}); }), "'a/=b': a scope becomes a scope; hint: 'a/=b/'");
  EXPECT_EQ(refusal([] { renaming({"/="}); }), "'/=': the new name is missing");
  EXPECT_EQ(refusal([] { renaming({"a=b", "a=c"}); }), "'a=c': 'a' is given twice");
  EXPECT_EQ(refusal([] { renaming({}, {"s/a/b"}); }),
            "'s/a/b': is no substitution; hint: s/RE/REPLACEMENT/[g]");
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

}  // namespace gedit::checkpoint_test
