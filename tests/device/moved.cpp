// SPDX-License-Identifier: BSD-2-Clause
// moved FOLDER: go to a folder before the first use of devices, and print the platforms of those that are found.
#include <unistd.h>

#include <cstdio>
#include <string>

#include "device.hpp"

int main(int argc, char** argv) {
  if (argc != 2 || chdir(argv[1]) != 0) return 2;
  std::string why;
  oclspkt::DeviceModule* const module = oclspkt::device_module(&why);
  if (module == nullptr) {
    std::printf("no module: %s\n", why.c_str());
    return 0;
  }
  for (const oclspkt::DeviceInfo& device : module->devices()) std::printf("%s\n", device.platform.c_str());
  for (const std::string& problem : module->problems()) std::printf("%s\n", problem.c_str());
}
