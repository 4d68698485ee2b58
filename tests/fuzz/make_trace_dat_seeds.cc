// Writes seeds for trace_dat_layout_fuzzer into a directory: whole files, of which it changes parts.
//   make_trace_dat_seeds DIRECTORY
#include <fstream>
#include <iostream>
#include <string>

#include "tests/support/made_trace_dat.h"

namespace whylate {
namespace {

bool Write(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  return file.good();
}

MadeTraceDat Waits(int32_t cpus) {
  MadeTraceDat made(cpus);
  for (int32_t cpu = 0; cpu < cpus; ++cpu) {
    made.Switch(1000, cpu, 0, "swapper", 0, 5, "beta")
        .Waking(2000, cpu, 5, 8, 7, "alpha", cpu)
        .Switch(3000, cpu, 5, "beta", 0x100, 7, "alpha");
  }
  return made;
}

bool WriteSeeds(const std::string& directory) {
  MadeTraceDat told = Waits(2);
  told.Uname("Linux host 6.1.0 x86_64")
      .Clock("mono")
      .LostBefore(1, 12)
      .Stats(0, "entries: 7\noverrun: 3\ndropped events: 1\n");
  return Write(directory + "/empty", MadeTraceDat(1).Bytes()) &&
         Write(directory + "/one", Waits(1).Bytes()) &&
         Write(directory + "/many", Waits(8).Bytes()) && Write(directory + "/told", told.Bytes());
}

}  // namespace
}  // namespace whylate

int main(int argc, char** argv) {
  if (argc == 2 && whylate::WriteSeeds(argv[1])) return 0;
  std::cerr << "make_trace_dat_seeds: DIRECTORY, which exists\n";
  return 1;
}
