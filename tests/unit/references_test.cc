// Where names stand in a node: what the table says is what both ways of writing a node do.
#include "graph/references.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/map_entry.h"
#include "graph/library.h"
#include "graph/mapping.h"
#include "graph/prefix.h"
#include "model/model.h"
#include "model/sorted_maps.h"
#include "ops/registry.h"

namespace gedit::references_test {

// What a mapping that gives out a Prefixing does, name by name.
class PrefixMapping final : public Mapping {
 public:
  explicit PrefixMapping(const Prefixing& prefixing) : prefixing_(prefixing) {}

  void node(std::string_view name, std::string& out) const override {
    out += prefixing_.prefix;
    out += name;
  }
  void identity(const NodeHead& holder, Role role, std::string_view value, std::string& out) const override {
    const bool stays = value.empty() || value == kAnonymousName;
    const bool own = role == Role::kSharedName && !value.empty() && value == holder.name;
    if (prefixing_.identities ? !stays : own || role == Role::kFrame) out += prefixing_.prefix;
    out += value;
  }

 private:
  const Prefixing& prefixing_;
};

// What prefix_node() writes; nothing where it leaves the node to the mapping.
std::optional<std::string> prefixed(std::string_view node_def, const Prefixing& prefixing) {
  static std::vector<char> room(kPrefixRoom);
  if (node_def.size() > kMostPrefixed) return std::nullopt;
  const char* end = prefix_node(node_def, prefixing, room.data());
  if (end == nullptr) return std::nullopt;
  return std::string(room.data(), static_cast<size_t>(end - room.data()));
}

const std::vector<Prefixing>& prefixings() {
  static const std::vector<Prefixing> all{{"p/", false, false}, {"p/", true, false},
                                          {"p/", true, true},   {"p/", false, true},
                                          {"", false, true},    {std::string(70, 'p') + "/", true, false}};
  return all;
}

// Compares both ways for one node; gives with how many prefixings the short one was taken.
size_t compare(std::string_view node_def, const std::string& where) {
  size_t taken = 0;
  for (const Prefixing& prefixing : prefixings()) {
    const auto written = prefixed(node_def, prefixing);
    if (!written) continue;
    ++taken;
    EXPECT_EQ(*written, mapped_node(node_def, PrefixMapping(prefixing)))
        << where << " " << node_name(node_def);
  }
  return taken;
}

TEST(References, BothWaysWriteTheSameOfRealNodes) {
  size_t files = 0, nodes = 0, taken = 0;
  const auto look = [&](std::string_view node_def, const std::string& where) {
    ++nodes;
    taken += compare(node_def, where);
  };
  const std::filesystem::path folder = std::filesystem::path(GEDIT_SOURCE_DIR) / "testdata";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string path = entry.path().string();
    std::optional<Model> model;
    try {
      model.emplace(load(path));
    } catch (const Error&) {
      continue;  // no graph
    }
    ++files;
    for (const MetaGraph& meta : model->meta_graphs) {
      meta.graph.each_record([&](std::string_view node_def) { look(node_def, path); });
      for (Fields library(meta.graph.part(graph_field::kLibrary)); library.next();) {
        if (!library->bytes(1)) continue;
        for (Fields function(library->value); function.next();) {
          if (function->bytes(function_field::kNode)) look(function->value, path);
        }
      }
    }
  }
  EXPECT_GT(files, 30U);
  EXPECT_GT(nodes, 3000U);
  EXPECT_GT(taken, nodes * prefixings().size() / 2);  // the short way is the usual one
}

// A node of whose attributes `row` says something.
std::string node_of_row(const AttrRow& row, std::string_view text) {
  NodeBuilder builder("n", row.op.empty() ? "Op" : row.op);
  builder.input("a:1").input("^b").type("T", DType::kFloat);
  const std::string value = row.role == Role::kInstanceKey  ? int_value(7)
                            : row.role == Role::kColocation ? string_list_value({"loc:@" + std::string(text)})
                                                            : string_value(text);
  return builder.attr(row.key, value).attr("zz", int_value(1)).take();
}

TEST(References, EveryRowLivesInBothWays) {
  for (const AttrRow& row : kAttrRows) {
    const std::string where = std::string(row.op) + "." + std::string(row.key);
    const std::string op(row.op.empty() ? "Op" : row.op);
    EXPECT_EQ(attr_role(op, row.key), row.role) << where;
    EXPECT_EQ(attr_role(op + "V2", row.key), row.role) << where;
    EXPECT_EQ(attr_role("x" + op, row.key), row.op.empty() ? row.role : Role::kNone) << where;
    EXPECT_EQ(attr_role(op, std::string(row.key) + "s"), Role::kNone) << where;

    for (const std::string_view text : {std::string_view("n"), std::string_view("a"),
                                        std::string_view("other"), std::string_view(), kAnonymousName}) {
      const std::string node_def = node_of_row(row, text);
      compare(node_def, where);
      for (const Prefixing& prefixing : prefixings()) {
        const PrefixMapping mapping(prefixing);
        const std::string mapped = mapped_node(node_def, mapping);
        std::string expected(text);
        if (row.role == Role::kColocation) {
          expected = prefixing.prefix + expected;
        } else if (row.role != Role::kInstanceKey && row.role != Role::kGradientType) {
          expected.clear();
          mapping.identity(node_head(node_def), row.role, text, expected);
        }
        NodeBuilder direct(prefixing.prefix + "n", op);
        direct.input(prefixing.prefix + "a:1").input("^" + prefixing.prefix + "b").type("T", DType::kFloat);
        const AttrRow plain{row.key, op, row.role};
        const std::string plain_node = node_of_row(plain, expected);
        const auto value = find_attr(plain_node, row.key);
        EXPECT_EQ(mapped, direct.attr(row.key, *value).attr("zz", int_value(1)).take()) << where;
      }
    }

    // What the short way leaves to the mapping: numbers, nodes far away, and names of temporary variables,
    // which may be a node's.
    const bool number = row.role == Role::kInstanceKey, colocation = row.role == Role::kColocation;
    const bool temporary = is(row.op, OpKind::kTemporary);
    EXPECT_EQ(prefixed(node_of_row(row, "n"), {"p/", true, false}).has_value(), !number) << where;
    EXPECT_EQ(prefixed(node_of_row(row, "n"), {"p/", false, false}).has_value(), !temporary) << where;
    EXPECT_EQ(prefixed(node_of_row(row, "far"), {"p/", true, false}).has_value(), !number && !colocation)
        << where;
  }
}

// A node whose fields stand in another order than TensorFlow writes them, or twice.
TEST(References, OddNodesAreWrittenTheSame) {
  const auto field = [](uint32_t number, std::string_view text) {
    std::string bytes;
    append_bytes_field(bytes, number, text);
    return bytes;
  };
  const auto attr = [&](std::string_view key, std::string_view value) {
    return field(node_field::kAttr, field(1, key) + field(2, value));
  };
  const std::string name = field(node_field::kName, "n"), enter = field(node_field::kOp, "Enter"),
                    frame = attr("frame_name", string_value("f")),
                    shared = attr("shared_name", string_value("n"));
  const std::string longer(200, 'v');
  for (const std::string& node_def :
       {frame + name + enter, name + frame + enter, enter + frame + name, name + enter + frame + frame,
        name + enter + name + frame, name + enter + enter + frame, shared + name + enter,
        name + enter + shared, name + field(node_field::kOp, "Other") + frame, name + frame,
        // an entry whose key stands twice, or behind its value
        name + enter +
            field(node_field::kAttr, field(1, "T") + field(2, string_value("f")) + field(1, "frame_name")),
        name + enter + field(node_field::kAttr, field(2, string_value("f")) + field(1, "frame_name")),
        name + enter + field(node_field::kAttr, field(1, "frame_name")),
        // values that are of another kind, long, or empty
        name + enter + attr("frame_name", int_value(3)), name + enter + attr("frame_name", ""),
        name + enter + attr("frame_name", string_value(longer)),
        name + enter + attr("T", string_value(longer)), name + enter + attr(longer, string_value("f")),
        name + enter + attr("", string_value("f"))}) {
    compare(node_def, "odd");
  }
}

TEST(References, NodesWithShapesAreLeftWhereShapesMayBeStale) {
  const std::string node_def =
      NodeBuilder("n", "Op").attr("_output_shapes", "").attr("T", type_value(DType::kFloat)).take();
  EXPECT_TRUE(prefixed(node_def, {"p/", false, false}));
  EXPECT_FALSE(prefixed(node_def, {"p/", false, true}));
  EXPECT_FALSE(prefixed(node_def, {"p/", true, true}));
}

// The index of the table finds what reading it finds.
TEST(References, TheIndexHidesNoRow) {
  std::set<std::string> keys{"", "_", "k", "_output_shapes"};
  for (const AttrRow& row : kAttrRows) {
    const std::string key(row.key);
    keys.insert({key, key + "s", key.substr(1), key.substr(0, key.size() - 1), "_" + key});
  }
  Registry registry;
  registry.add_builtin();
  std::vector<std::string> ops;
  registry.each_name([&](std::string_view name) { ops.emplace_back(name); });
  for (const std::string& op : ops) {
    for (const AttrDef& attr : parse_op_def(registry.find(op)).attrs) keys.emplace(attr.name);
  }
  for (const std::string& op : ops) {
    for (const std::string& key : keys) {
      Role role = Role::kNone;
      for (const AttrRow& row : kAttrRows) {
        if (row.key == key && op.starts_with(row.op)) role = row.role;
      }
      ASSERT_EQ(attr_role(op, key), role) << op << "." << key;
    }
  }
}

// A cond's context, in one in which it stands: values, and external_values in this order.
std::string cond_contexts(const std::vector<std::string>& outside) {
  std::string values;
  append_bytes_field(values, 1, "cond/b");
  append_bytes_field(values, 1, "cond/a");
  for (const std::string& name : outside) append_map_entry(values, 2, name, name + "/out");
  std::string inner, nested, outer;
  append_bytes_field(inner, 1, "cond/inner");
  append_bytes_field(inner, 5, values);
  append_bytes_field(nested, 1, inner);
  append_bytes_field(outer, 1, "cond");
  append_bytes_field(outer, 6, nested);
  return outer;
}

TEST(SortedMaps, TakesEntriesOfNestedContextsInAnyOrder) {
  const std::string one = cond_contexts({"x", "y", "z"}), other = cond_contexts({"z", "x", "y"});
  ASSERT_NE(one, other);
  EXPECT_EQ(with_maps_sorted(one, kCondContextDef), with_maps_sorted(other, kCondContextDef));
  EXPECT_EQ(with_maps_sorted(one, kCondContextDef), one);
  // What differs still does.
  EXPECT_NE(with_maps_sorted(cond_contexts({"x"}), kCondContextDef),
            with_maps_sorted(cond_contexts({"y"}), kCondContextDef));
}

}  // namespace gedit::references_test
