// Event files: records, checksums, which graph is taken, and the way back.
#include "model/events.h"

#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/wire.h"
#include "corpus_files.h"
#include "event.pb.h"
#include "graph/node.h"

namespace gedit::events_test {

std::string fixed(uint64_t value, int width) {
  std::string out;
  for (int i = 0; i < width; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

std::string record(const std::string& data) {
  const std::string length = fixed(data.size(), 8);
  return length + fixed(masked(crc32c(length)), 4) + data + fixed(masked(crc32c(data)), 4);
}

std::string version_record() {
  tensorflow::Event event;
  event.set_wall_time(1.5e9);
  event.set_file_version("brain.Event:2");
  return record(event.SerializeAsString());
}

std::string graph_record(const std::string& graph) {
  tensorflow::Event event;
  event.set_wall_time(1.5e9);
  event.set_graph_def(graph);
  return record(event.SerializeAsString());
}

std::string meta_record(const std::string& meta_graph) {
  tensorflow::Event event;
  event.set_wall_time(1.5e9);
  event.set_meta_graph_def(meta_graph);
  return record(event.SerializeAsString());
}

// `EVENTS[+] KIND BYTES`, or what is wrong and where.
std::string shown(const std::string& file, std::optional<Kind> wanted = std::nullopt) {
  try {
    const EventGraphs found = read_events(file, wanted);
    std::string text = std::to_string(found.events) + (found.cut ? "+" : "");
    if (!found.graph) return text;
    return text + (found.graph->kind == Kind::kGraphDef ? " graph " : " meta ") +
           std::string(found.graph->message);
  } catch (const Malformed& error) {
    return std::string(error.what()) + " at " + std::to_string(error.at() - file.data());
  }
}

TEST(Events, TheLastGraphIsTaken) {
  const std::string file =
      version_record() + graph_record("one") + meta_record("two") + graph_record("three");
  EXPECT_EQ(shown(file), "4 graph three");
  EXPECT_EQ(shown(file, Kind::kMetaGraphDef), "4 meta two");
  EXPECT_EQ(shown(file, Kind::kGraphDef), "4 graph three");
  EXPECT_EQ(shown(file, Kind::kSavedModel), "4");
  EXPECT_EQ(shown(version_record()), "1");
  EXPECT_EQ(shown(graph_record("") + graph_record("g") + graph_record("")), "3 graph g");
}

TEST(Events, AnEventThatIsNotWholeIsPassedOver) {
  const std::string whole = version_record() + graph_record("g");
  const std::string next = graph_record("later");
  for (size_t length = 1; length < next.size(); ++length)
    EXPECT_EQ(shown(whole + next.substr(0, length)), "2+ graph g") << length;
  EXPECT_EQ(records_in(whole), Records::kEvents);
  EXPECT_EQ(records_in(whole.substr(0, 13)), Records::kEvents);
  EXPECT_EQ(records_in(whole.substr(0, 11)), Records::kNone);
  EXPECT_EQ(records_in(record("an example")), Records::kOther);
}

TEST(Events, WrongChecksumsAreRefusedWithTheByte) {
  const std::string first = version_record(), second = graph_record("graph");
  const std::string at = std::to_string(first.size()), data_at = std::to_string(first.size() + 12);
  for (size_t i = 0; i < second.size(); ++i) {
    std::string damaged = second;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    const std::string length = "the checksum of a record's length differs at " + at;
    const std::string data = "the checksum of a record differs at " + data_at;
    EXPECT_EQ(shown(first + damaged), i < 12 ? length : data) << i;
  }
  // Zeros at the end are no record: they have a checksum of their own.
  EXPECT_EQ(shown(first + std::string(16, '\0')), "the checksum of a record's length differs at " + at);
}

TEST(Events, HostileLengths) {
  for (const uint64_t length : {uint64_t{1} << 63, ~uint64_t{0}, ~uint64_t{0} - 15, uint64_t{1} << 32}) {
    const std::string head = fixed(length, 8);
    EXPECT_EQ(shown(version_record() + head + fixed(masked(crc32c(head)), 4) + "data"), "1+") << length;
  }
  EXPECT_EQ(shown(record("\x0a\x7f")), "record is 127 bytes long, 0 remain at 12");
}

TEST(Events, WrittenAndReadAgain) {
  std::string graph;
  append_bytes_field(graph, 1, NodeBuilder("x", "NoOp").take());
  Model model = model_of("x.pb", Kind::kGraphDef, Format::kBinary, graph, std::make_shared<Arena>());
  StringSink out;
  write_events(model, 1600000000.25, out);
  EXPECT_EQ(shown(out.text), "2 graph " + graph);
  EXPECT_EQ(out.text.substr(0, out.text.size() / 2).find("brain.Event:2"), 23U);
  model.graph().append(NodeBuilder("y", "NoOp").take());
  StringSink edited;
  write_events(model, 1600000000.25, edited);
  EXPECT_EQ(read_events(edited.text, std::nullopt).graph->message.size(), 2 * graph.size());
  EXPECT_EQ(event_file_name(1600000000.25), "events.out.tfevents.1600000000.gedit");
}

}  // namespace gedit::events_test
