// The history of ops: releases, definitions in force, and what each release knows.
#include "ops/history.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gedit::history_test {

std::optional<std::string> found(std::string_view version) {
  const OpHistory& history = OpHistory::get();
  const auto release = history.find(version);
  if (!release) return std::nullopt;
  return std::string(history.releases()[*release].name);
}

TEST(OpHistory, FindsReleasesAsPeopleAndFilesWriteThem) {
  EXPECT_EQ(found("1.12"), "1.12.0");
  EXPECT_EQ(found("1.12.3"), "1.12.0");
  EXPECT_EQ(found("v1.13.1"), "1.13.1");
  EXPECT_EQ(found("1.13"), "1.13.1");
  EXPECT_EQ(found("2.4.0-dev20200811"), "2.4.0");
  EXPECT_EQ(found("2.2-rc0"), "2.2.0");
  EXPECT_EQ(found("2.21"), "2.21.0");
  for (const std::string_view none : {"", "1", "1.", "1.99", "2.2x", "unknown", ".1", "b1.4", "1.-4"})
    EXPECT_EQ(found(none), std::nullopt) << none;
}

TEST(OpHistory, OrdersReleasesAndKnowsTheirProducers) {
  const OpHistory& history = OpHistory::get();
  EXPECT_EQ(history.releases().size(), 38U);
  EXPECT_EQ(*history.find("1.15") + 1, *history.find("2.0"));
  EXPECT_EQ(history.with_producer(38), release_bit(*history.find("1.14")));
  EXPECT_EQ(history.with_producer(26), release_span(*history.find("1.6"), *history.find("1.10")));
  EXPECT_EQ(history.with_producer(500), release_bit(*history.find("2.4")));
  EXPECT_EQ(history.with_producer(9999), release_bit(history.latest()));
}

TEST(OpHistory, GivesTheDefinitionInForce) {
  OpHistory& history = OpHistory::get();
  const auto release = [&](std::string_view version) { return *history.find(version); };
  EXPECT_EQ(history.era("AddV2", release("1.4")), nullptr);
  EXPECT_EQ(history.era("Add", release("1.4"))->op.inputs.size(), 2U);
  ASSERT_NE(history.era("AddV2", release("1.5")), nullptr);
  EXPECT_EQ(history.era("Cast", release("1.10"))->op.find_attr("Truncate"), nullptr);
  EXPECT_NE(history.era("Cast", release("1.11"))->op.find_attr("Truncate"), nullptr);
  EXPECT_EQ(history.era("GatherTree", release("1.4"))->op.inputs.size(), 3U);
  EXPECT_EQ(history.era("GatherTree", release("1.5"))->op.inputs.size(), 4U);
  EXPECT_TRUE(history.era("GatherTree", release("1.5"))->contrib);
  EXPECT_EQ(history.eras("NoSuchOp").size(), 0U);
}

TEST(OpHistory, KnowsTheOpsOfEveryRelease) {
  OpHistory& history = OpHistory::get();
  std::vector<size_t> known(history.releases().size());
  Registry ops;
  ops.add_builtin();
  ops.each_name([&](std::string_view name) {
    for (ReleaseNumber release = 0; release <= history.latest(); ++release) {
      const OpEra* const era = history.era(name, release);
      if (era == nullptr) continue;
      ++known[release];
      EXPECT_EQ(parse_op_def(era->op_def).name, name);
    }
  });
  for (ReleaseNumber release = 0; release <= history.latest(); ++release)
    EXPECT_GT(known[release], 600U) << history.releases()[release].name;
}

}  // namespace gedit::history_test
