// Anything as a trace.dat: it is refused in one line, or every part lies within it. The records
// behind it are libtracecmd's to read, which was not made for hostile files: it is not fuzzed here,
// and decodes in a child.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/import/trace_dat_layout.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace whylate;  // NOLINT(google-build-using-namespace): an entry point, no header
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<TraceDatLayout> layout = ReadTraceDatLayout(bytes);
  if (!layout.ok()) {
    const std::string message(layout.status().message());
    if (message.empty() || message.find('\n') != std::string::npos) abort();
    return 0;
  }
  layout->Kernel();
  for (const TraceDatCpuData& cpu : layout->cpus) {
    if (cpu.offset > size || cpu.size_bytes > size - cpu.offset) abort();
  }
  return 0;
}
