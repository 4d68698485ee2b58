// Anything as a latency tracer's text: it is refused in one line, or it is a recording that
// the analysis can use.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/import/latency_text.h"
#include "tests/support/import_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace whylate;  // NOLINT(google-build-using-namespace): an entry point, no header
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  LooksLikeLatencyText(text);
  if (!IsRefusedOrSound(ImportLatencyText(text, {.events = 10000, .names = 100}))) abort();
  return 0;
}
