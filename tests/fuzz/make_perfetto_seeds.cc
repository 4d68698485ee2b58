// Writes seeds for perfetto_fuzzer into a directory: recordings of ours, and traces as others make
// them.
//   make_perfetto_seeds DIRECTORY
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>

#include "analysis/attribution/explain.h"
#include "analysis/report/perfetto_writer.h"
#include "tests/support/made_perfetto.h"
#include "tests/support/random_recording.h"
#include "tests/support/trace_generator.h"

namespace whylate {
namespace {

std::string Foreign() {
  MadeBundle::Compact compact;
  compact.names = {"seven", "swapper"};
  compact.switch_deltas = {100, 10, 20};
  compact.switch_states = {0, 2, 1};
  compact.switch_tids = {7, 8, 0};
  compact.switch_priorities = {120, 98, 120};
  compact.switch_names = {0, 0, 1};
  compact.waking_deltas = {105};
  compact.waking_tids = {8};
  compact.waking_targets = {0};
  compact.waking_names = {0};
  compact.waking_flags = {8};
  return MadeBundle(0).Lost().Columns(compact).Packet() +
         MadeBundle(1)
             .Switch(50, {0, "swapper/1"}, 0, {7, "seven"})
             .Waking(60, 7, {8, "eight"}, 0)
             .Wakeup(61, {8, "eight"}, 0)
             .Packet();
}

bool Write(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  return file.good();
}

bool WriteSeeds(const std::string& directory) {
  bool written = Write(directory + "/foreign", Foreign()) &&
                 Write(directory + "/compressed", MadeCompressedPacket(Foreign()));
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    GeneratorOptions options;
    options.seed = seed;
    options.actions = 15;
    options.stolen = seed % 2 == 0;
    Recording recording = GenerateTrace(options);
    if (seed > 4) recording = ThroughStages(std::move(recording), seed);
    const Explanation explanation = Explain(recording);
    const std::string number = std::to_string(seed);
    written = written &&
              Write(directory + "/own" + number, RecordingToPerfetto(recording, &explanation)) &&
              Write(directory + "/random" + number,
                    RecordingToPerfetto(MakeRandomRecording(seed, 15), nullptr));
  }
  return written;
}

}  // namespace
}  // namespace whylate

int main(int argc, char** argv) {
  if (argc == 2 && whylate::WriteSeeds(argv[1])) return 0;
  std::cerr << "make_perfetto_seeds: DIRECTORY, which exists\n";
  return 1;
}
