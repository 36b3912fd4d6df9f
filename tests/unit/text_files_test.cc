// Protobuf text of real files: gedit and TextFormat read the same, and write what the other reads.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "corpus_files.h"
#include "model/detect.h"
#include "model/text.h"
#include "same_message.h"

namespace gedit::text_files_test {

TEST(TextFiles, AreReadAndWrittenAsByTensorFlow) {
  const std::vector<std::string> files = corpus_files();
  size_t binaries = 0, texts = 0, pairs = 0, same_bytes = 0;
  for (const std::string& path : files) {
    const auto file = InputFile::open(path);
    Detected found{};
    try {
      found = detect(file->bytes(), path);
    } catch (const Error&) {
      continue;  // no graph; detect_test looks at these
    }
    if (found.format == Format::kText) {
      ++texts;
      const auto whole = whole_file(found.kind, file->bytes());
      std::string ours = "refused";
      try {
        ours = sorted_bytes(found.kind, parse_text(found.kind, file->bytes(), path));
      } catch (const Error& error) {
        EXPECT_EQ(whole, nullptr) << error.what();
      }
      EXPECT_EQ(ours == (whole == nullptr ? "refused" : sorted_bytes(*whole)), true) << path;
    } else if (found.format == Format::kBinary) {
      ++binaries;
      StringSink sink;
      write_text(found.kind, file->bytes(), path, false, sink);
      const std::string& text = sink.text;
      EXPECT_EQ(sorted_bytes(found.kind, parse_text(found.kind, text, path)) ==
                    sorted_bytes(found.kind, file->bytes()),
                true)
          << path;
      const auto whole = whole_file(found.kind, text);
      ASSERT_NE(whole, nullptr) << path;
      EXPECT_EQ(sorted_bytes(*whole) == sorted_bytes(found.kind, file->bytes()), true) << path;
      // TensorFlow's own text of the same graph.
      const std::string other = join_path(dir_name(path), "frozen_graph.pbtxt");
      if (base_name(path) == "frozen_model.pb" && exists(other)) {
        ++pairs;
        const auto theirs = InputFile::open(other);
        if (theirs->bytes() == text) ++same_bytes;
      }
    }
  }
  EXPECT_GE(binaries, at_least(25, 300));
  EXPECT_GE(texts, at_least(5, 250));
  EXPECT_GE(pairs, at_least(0, 200));
  EXPECT_GE(same_bytes * 100, pairs * 90) << "the others were written by a TensorFlow with longer floats";
}

}  // namespace gedit::text_files_test
