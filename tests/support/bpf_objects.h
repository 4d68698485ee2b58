// The capture's programs, maps and links that the kernel holds now, whoever loaded them.
#ifndef WHYLATE_TESTS_SUPPORT_BPF_OBJECTS_H_
#define WHYLATE_TESTS_SUPPORT_BPF_OBJECTS_H_

#include <set>
#include <string>

namespace whylate {

// "prog 17 on_sched_switch", "map 23 records", "link 31". As root.
std::set<std::string> CaptureObjects();

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_BPF_OBJECTS_H_
