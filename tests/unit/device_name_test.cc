// Devices by their parts.
#include "edit/basis/device_name.h"

#include <gtest/gtest.h>

namespace gedit::device_name_test {

TEST(Devices, AgreeWhereNoPartContradicts) {
  struct Row {
    std::string_view a, b;
    bool agree;
  };
  for (const Row& row : {
           Row{"", "", true},
           Row{"", "/device:GPU:0", true},
           Row{"/", "/job:a", true},
           Row{"/cpu:0", "/device:CPU:0", true},
           Row{"/device:cpu:0", "/CPU:0", true},
           Row{"/cpu:0", "/cpu:1", false},
           Row{"/cpu:0", "/gpu:0", false},
           Row{"/device:GPU", "/gpu:3", true},
           Row{"/device:GPU", "/cpu:3", false},
           Row{"/device:GPU:*", "/gpu:3", true},
           Row{"/device:*", "/gpu:3", true},
           Row{"/device:TPU:1", "/device:TPU:2", false},
           Row{"/job:a/task:0/device:CPU:0", "/device:CPU:0", true},
           Row{"/job:a/task:0/device:CPU:0", "/job:a/replica:0/cpu:0", true},
           Row{"/job:a/task:0", "/job:a/task:1", false},
           Row{"/job:a", "/job:b", false},
           Row{"/job:*", "/job:b", true},
       }) {
    EXPECT_EQ(devices_agree(row.a, row.b), row.agree) << row.a << " and " << row.b;
    EXPECT_EQ(devices_agree(row.b, row.a), row.agree) << row.b << " and " << row.a;
  }
}

}  // namespace gedit::device_name_test
