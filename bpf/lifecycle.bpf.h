/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Tasks come, go, are stopped, and change their names, their affinity and their cgroups. */
#ifndef WHYLATE_BPF_LIFECYCLE_BPF_H_
#define WHYLATE_BPF_LIFECYCLE_BPF_H_

#include "bpf/capture_state.h"
#include "bpf/seeds.bpf.h"

#if defined(__TARGET_ARCH_x86)
#define NR_SETPRIORITY 141
#define NR_SCHED_SETPARAM 142
#define NR_SCHED_SETSCHEDULER 144
#define NR_SCHED_SETAFFINITY 203
#define NR_SCHED_SETATTR 314
#define SYSCALL_NUMBER(regs) ((regs)->orig_ax)
#define SYSCALL_FIRST_ARGUMENT(regs) ((regs)->di)
#define SYSCALL_SECOND_ARGUMENT(regs) ((regs)->si)
#else
#define NR_SETPRIORITY 140
#define NR_SCHED_SETPARAM 118
#define NR_SCHED_SETSCHEDULER 119
#define NR_SCHED_SETAFFINITY 122
#define NR_SCHED_SETATTR 274
#define SYSCALL_NUMBER(regs) ((regs)->syscallno)
#define SYSCALL_FIRST_ARGUMENT(regs) ((regs)->orig_x0)
#define SYSCALL_SECOND_ARGUMENT(regs) ((regs)->regs[1])
#endif

#define PRIO_PROCESS 0 /* include/uapi/linux/resource.h */

/* include/uapi/asm-generic/signal.h: SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU. */
#define FIRST_STOP_SIGNAL 19
#define LAST_STOP_SIGNAL 22

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_sched_process_fork, struct task_struct *parent, struct task_struct *child)
{
	struct whylate_cpu *cpu = recording_cpu();
	struct whylate_fork *record;

	if (!cpu)
		return 0;
	if (is_watched(child))
		remember_watched(child);
	record = begin_record(cpu, bpf_ktime_get_ns(), sizeof(*record), WHYLATE_FORK);
	if (!record)
		return 0;
	record->parent = parent->pid;
	record->child = child->pid;
	record->child_tgid = child->tgid;
	record->is_kernel_thread = !!(child->flags & PF_KTHREAD);
	bpf_probe_read_kernel(record->name, sizeof(record->name), child->comm);
	end_record(record);
	return 0;
}

static __always_inline int emit_name(struct task_struct *task, const void *name)
{
	struct whylate_cpu *cpu = recording_cpu();
	struct whylate_name *record;

	if (!cpu)
		return 0;
	record = begin_record(cpu, bpf_ktime_get_ns(), sizeof(*record), WHYLATE_NAME);
	if (!record)
		return 0;
	record->task = task->pid;
	record->tgid = task->tgid;
	record->is_kernel_thread = !!(task->flags & PF_KTHREAD);
	bpf_probe_read_kernel_str(record->name, sizeof(record->name), name);
	end_record(record);
	return 0;
}

/* A thread that is not the leader takes the leader's tid when it executes a program. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_sched_process_exec, struct task_struct *task, int old_tid)
{
	__u32 tid = old_tid;

	if (recording_cpu() && is_watched(task)) {
		bpf_map_delete_elem(&watched_tasks, &tid);
		remember_watched(task);
	}
	return emit_name(task, task->comm);
}

/* Comes before the new name is in the task: it is the second argument. */
SEC("tp_btf/task_rename")
int BPF_PROG(on_task_rename, struct task_struct *task, const char *name)
{
	return emit_name(task, name);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_sched_process_exit, struct task_struct *task)
{
	struct whylate_cpu *cpu = recording_cpu();
	struct whylate_exit *record;
	__u32 tid = task->pid;

	if (is_watched(task))
		bpf_map_delete_elem(&watched_tasks, &tid);
	if (!cpu)
		return 0;
	record = begin_record(cpu, bpf_ktime_get_ns(), sizeof(*record), WHYLATE_EXIT);
	if (!record)
		return 0;
	record->task = tid;
	end_record(record);
	return 0;
}

/* Named for its time: after the policy or priority was set. */
static __always_inline void emit_standing(__u32 tid, struct task_struct *task)
{
	struct whylate_cpu *cpu = recording_cpu();
	struct whylate_new_standing *record;

	if (!cpu)
		return;
	record = begin_record(cpu, bpf_ktime_get_ns(), sizeof(*record), WHYLATE_STANDING);
	if (!record)
		return;
	record->task = tid;
	record->by = (__u32)bpf_get_current_pid_tgid();
	record->standing.prio = BPF_CORE_READ(task, prio) + 1;
	record->standing.policy = BPF_CORE_READ(task, policy) & WHYLATE_POLICY_MASK;
	end_record(record);
}

/* The thread that a system call is about, by its argument; 0 stands for the caller. */
static __always_inline __u32 subject_of_call(struct pt_regs *regs, int number)
{
	__u32 tid = number == NR_SETPRIORITY ? SYSCALL_SECOND_ARGUMENT(regs)
					     : SYSCALL_FIRST_ARGUMENT(regs);

	return tid ? tid : (__u32)bpf_get_current_pid_tgid();
}

/*
 * Widening a mask or a new priority makes no scheduler event, so the system calls themselves are
 * watched. 32-bit callers have other numbers and are missed: what they changed comes with the
 * task's next record.
 */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs, long result)
{
	int number = SYSCALL_NUMBER(regs);
	struct task_struct *task;
	__u64 *address;
	__u32 tid;

	if (number != NR_SCHED_SETAFFINITY && number != NR_SCHED_SETSCHEDULER &&
	    number != NR_SCHED_SETATTR && number != NR_SCHED_SETPARAM && number != NR_SETPRIORITY)
		return 0;
	if (result < 0 || !recording_cpu())
		return 0;
	if (number == NR_SETPRIORITY && SYSCALL_FIRST_ARGUMENT(regs) != PRIO_PROCESS)
		return 0;
	tid = subject_of_call(regs, number);
	address = bpf_map_lookup_elem(&watched_tasks, &tid);
	if (!address)
		return 0;
	task = (struct task_struct *)*address;
	if (number == NR_SCHED_SETAFFINITY)
		emit_mask(bpf_ktime_get_ns(), tid, (__u64)BPF_CORE_READ(task, cpus_ptr),
			  WHYLATE_AFFINITY_SET);
	else
		emit_standing(tid, task);
	return 0;
}

/* Comes once for a whole process where that is moved, with its leader. */
SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(on_cgroup_attach_task, struct cgroup *group, const char *path,
	     struct task_struct *task)
{
	struct whylate_cpu *cpu = recording_cpu();
	struct whylate_cgroup *record;

	if (!cpu || !is_watched(task))
		return 0;
	record = begin_record(cpu, bpf_ktime_get_ns(), sizeof(*record), WHYLATE_CGROUP);
	if (!record)
		return 0;
	record->task = task->pid;
	record->by = (__u32)bpf_get_current_pid_tgid();
	bpf_probe_read_kernel_str(record->path, sizeof(record->path), path);
	end_record(record);
	return 0;
}

SEC("tp_btf/signal_generate")
int BPF_PROG(on_signal_generate, int signal, struct kernel_siginfo *info, struct task_struct *task)
{
	struct whylate_cpu *cpu = recording_cpu();
	struct whylate_stop *record;

	if (!cpu || signal < FIRST_STOP_SIGNAL || signal > LAST_STOP_SIGNAL || !is_watched(task))
		return 0;
	record = begin_record(cpu, bpf_ktime_get_ns(), sizeof(*record), WHYLATE_STOP);
	if (!record)
		return 0;
	record->task = task->pid;
	record->by = (__u32)bpf_get_current_pid_tgid();
	end_record(record);
	return 0;
}

#endif /* WHYLATE_BPF_LIFECYCLE_BPF_H_ */
