// What stands at the place of a folder that was not there when it was begun stays.
#include "base/staged_folder.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace gedit::staged_folder_test {

namespace fs = std::filesystem;

class StagedFolderTest : public testing::Test {
 protected:
  StagedFolderTest() : place_(fs::path(testing::TempDir()) / ("staged-" + std::to_string(::getpid()))) {
    fs::create_directories(place_);
  }
  ~StagedFolderTest() override { fs::remove_all(place_); }

  std::string at(const char* name) const { return (place_ / name).string(); }
  static void write(const std::string& path) { std::ofstream(path) << "text"; }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(place_), fs::directory_iterator()));
  }

  fs::path place_;
};

TEST_F(StagedFolderTest, AppearsWhole) {
  {
    StagedFolder folder(at("a"));
    write(folder.path("new"));
    EXPECT_FALSE(fs::exists(at("a")));
    folder.commit();
  }
  EXPECT_TRUE(fs::exists(at("a/new")));
  EXPECT_EQ(entries(), 1U);
}

TEST_F(StagedFolderTest, WhatCameMeanwhileStays) {
  for (const bool empty : {false, true}) {
    fs::remove_all(at("a"));
    if (empty) fs::create_directory(at("a"));
    {
      StagedFolder folder(at("a"));
      write(folder.path("new"));
      fs::create_directory(at("a"));
      write(at("a/other"));
      EXPECT_THROW(folder.commit(), Error);
    }
    EXPECT_TRUE(fs::exists(at("a/other")));
    EXPECT_FALSE(fs::exists(at("a/new")));
    EXPECT_EQ(entries(), 1U);
  }
}

TEST_F(StagedFolderTest, ReplacesWhatWasThereAndWhereALinkLeads) {
  fs::create_directory(at("a"));
  write(at("a/old"));
  fs::create_symlink("a", at("link"));
  {
    StagedFolder folder(at("link"));
    write(folder.path("new"));
    folder.commit();
  }
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_TRUE(fs::exists(at("a/new")));
  EXPECT_FALSE(fs::exists(at("a/old")));
  EXPECT_EQ(entries(), 2U);
}

}  // namespace gedit::staged_folder_test
