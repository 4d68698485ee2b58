// The life of a child process: the hidden subcommand of the program.
#ifndef WHYLATE_USERSPACE_SESSION_CHILD_MAIN_H_
#define WHYLATE_USERSPACE_SESSION_CHILD_MAIN_H_

namespace whylate {

// Reads its spec from the channel and does what it says; returns the exit code.
int ChildMain();

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SESSION_CHILD_MAIN_H_
