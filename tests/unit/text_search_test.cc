#include "base/text_search.h"

#include <gtest/gtest.h>

namespace gedit::text_search_test {

// All texts of up to three letters in all places of longer and longer ones, so that every step, and what is
// left behind the last one, is crossed.
TEST(TextSearch, FindsWhatStringFinds) {
  for (size_t size = 0; size < 70; ++size) {
    for (size_t at = 0; at < size; ++at) {
      std::string bytes(size, 'a');
      bytes[at] = 'b';
      if (at % 3 == 0) bytes[size - 1] = 'c';
      for (const char* text : {"a", "b", "c", "ab", "ba", "bb", "aab", "aba", "bac", "aaaaaaaaaaaaaaaaaaab"})
        EXPECT_EQ(TextSearch(text).finds_in(bytes), bytes.find(text) != std::string::npos)
            << text << " " << bytes;
    }
  }
}

// Right at both ends, wrong between them.
TEST(TextSearch, ComparesAll) {
  EXPECT_FALSE(TextSearch("block_1/Relu").finds_in("block_2/Relu block_3/Relu block_4/Relu"));
  EXPECT_TRUE(TextSearch("block_1/Relu").finds_in("block_2/Relu block_3/Relu block_1/Relu"));
}

}  // namespace gedit::text_search_test
