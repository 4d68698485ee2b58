/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The parts of kernel structures that the programs read, relocated when they are loaded (CO-RE):
 * only names and kinds matter here, not offsets. A field that some supported kernel lacks has a
 * comment with the version that brought it, and is read behind bpf_core_field_exists() alone.
 */
#ifndef WHYLATE_BPF_KERNEL_TYPES_H_
#define WHYLATE_BPF_KERNEL_TYPES_H_

#include <linux/types.h>

typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct task_struct;
struct kernel_siginfo;

struct rq {
	__u64 clock;
	__u64 prev_steal_time_rq; /* CONFIG_PARAVIRT_TIME_ACCOUNTING */
	struct task_struct *stop;
};

struct cfs_rq {
	struct rq *rq;	    /* CONFIG_FAIR_GROUP_SCHED */
	int throttle_count; /* CONFIG_CFS_BANDWIDTH */
};

struct sched_entity {
	/* 6.12, "sched/fair: Implement delayed dequeue" */
	unsigned char sched_delayed;
	struct cfs_rq *cfs_rq; /* CONFIG_FAIR_GROUP_SCHED */
};

struct sched_info { /* CONFIG_SCHED_INFO */
	unsigned long long last_arrival;
	unsigned long long last_queued;
};

struct thread_info {
	__u32 cpu;
};

struct sched_dl_entity;
struct cpumask;

struct kernfs_node {
	const char *name;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct cfs_bandwidth { /* CONFIG_CFS_BANDWIDTH */
	__s64 period;
	__u64 quota;
};

struct task_group { /* CONFIG_CGROUP_SCHED */
	struct cgroup_subsys_state css;
	struct task_group *parent;
	struct cfs_bandwidth cfs_bandwidth;
};

/* A kernel thread's, behind task_struct.worker_private (5.17); `data` of a worker is its struct
 * worker.
 */
struct kthread {
	void *data;
};

struct worker {
	char desc[24]; /* 32 since 6.9 */
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int flags;
	int on_cpu;
	int on_rq;
	int prio;
	struct sched_entity se;
	/* 6.8, "sched/deadline: Introduce deadline servers"; the fair server came with 6.12 */
	struct sched_dl_entity *dl_server;
	/* 6.18, "sched/fair: Add related data structure for task based throttle" */
	bool throttled;
	unsigned int policy;
	const struct cpumask *cpus_ptr;
	struct sched_info sched_info;
	unsigned int in_iowait : 1;
	void *worker_private;
	struct task_group *sched_task_group; /* CONFIG_CGROUP_SCHED */
	int pid;
	int tgid;
	char comm[16];
};

struct irqaction {
	const char *name;
};

struct hrtimer_clock_base {
	__s64 offset;
};

struct hrtimer {
	__s64 _softexpires;
	void *function;
	struct hrtimer_clock_base *base;
};

struct hrtimer_sleeper {
	struct hrtimer timer;
	struct task_struct *task;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax;
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	__u64 regs[31];
	__u64 orig_x0;
	int syscallno;
};
#else
#error "x86-64 and arm64 only"
#endif

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

struct linux_binprm;

#endif /* WHYLATE_BPF_KERNEL_TYPES_H_ */
