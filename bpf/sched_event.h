/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The wire format between the eBPF programs and user space: the only header that both include.
 *
 * Every record starts with struct whylate_header. Records are native-endian, never leave the
 * machine and are sized in multiples of 8 bytes. Times are bpf_ktime_get_ns(), which is
 * CLOCK_MONOTONIC. Tids and tgids are those of the initial PID namespace; tid 0 is the idle task.
 *
 * A record of a watched task is followed at once, on the same CPU and with the same time, by
 * records of type WHYLATE_AFFINITY with the task's cpus_ptr, 256 CPUs each. Before a switch stand,
 * in the same way, the WHYLATE_IRQ_TIME of the stint that it ends, and after it the WHYLATE_STACK
 * and the WHYLATE_WORK of who left.
 */
#ifndef WHYLATE_BPF_SCHED_EVENT_H_
#define WHYLATE_BPF_SCHED_EVENT_H_

#include <linux/types.h>

#define WHYLATE_ABI_VERSION 3

/* The kernel's largest NR_CPUS (x86-64 with MAXSMP). */
#define WHYLATE_MAX_CPUS 8192
#define WHYLATE_MAX_WATCHED 32
#define WHYLATE_NAME_LEN 16 /* TASK_COMM_LEN */
#define WHYLATE_WORK_LEN 32 /* WORKER_DESC_LEN: 24 before 6.9 */
#define WHYLATE_PATH_LEN 128
#define WHYLATE_STACK_DEPTH 48
#define WHYLATE_MASK_WORDS 4
#define WHYLATE_MASK_CPUS (64 * WHYLATE_MASK_WORDS)

/* What a u32 of nanoseconds says when the value is not known, or does not fit (4.3 s and more). */
#define WHYLATE_NS_UNKNOWN 0xffffffffU

enum whylate_type {
	WHYLATE_SWITCH = 1,
	WHYLATE_WAKING,
	WHYLATE_WAKEUP,
	WHYLATE_WAKEUP_NEW,
	WHYLATE_MIGRATE,
	WHYLATE_FORK,
	WHYLATE_EXIT,
	WHYLATE_NAME,
	WHYLATE_TIMER_START,
	WHYLATE_TIMER_EXPIRE,
	WHYLATE_AFFINITY,
	WHYLATE_CPU_SEED,
	WHYLATE_TASK_SEED,
	WHYLATE_IRQ_TIME,
	WHYLATE_STACK,
	WHYLATE_WORK,
	WHYLATE_UNTHROTTLE,
	WHYLATE_STANDING,
	WHYLATE_CGROUP,
	WHYLATE_STOP,
	WHYLATE_TYPE_END,
};

/* whylate_header.flags: a chunk of affinity follows, for ... */
#define WHYLATE_MASK_PREV 0x01 /* ... prev of a switch, the task of any other record */
#define WHYLATE_MASK_NEXT 0x02 /* ... next of a switch */
/* Of a wake-up: onto a throttled runqueue, before task_struct.throttled. */
#define WHYLATE_WAKEE_THROTTLED 0x04

struct whylate_header {
	__u64 time_ns;
	__u32 sequence; /* counts attempts on this CPU, from 1, modulo 2^32; 0: not counted (seeds)
			 */
	__u16 cpu;	/* where the program ran */
	__u8 type;	/* enum whylate_type */
	__u8 flags;
};

/* A task's standing: the effective priority and the policy that it was given. */
#define WHYLATE_POLICY_MASK 0x0f
#define WHYLATE_POLICY_STOP 0x80 /* the CPU's stop task, whose policy is SCHED_FIFO */
struct whylate_standing {
	__u8 prio;   /* task_struct.prio + 1: 0 deadline, 1..100 real time, 101..140 fair */
	__u8 policy; /* task_struct.policy and WHYLATE_POLICY_STOP */
};

/* whylate_switch.bits: what task_struct said of prev and next at the switch. */
#define WHYLATE_PREV_ON_RQ 0x01
#define WHYLATE_PREV_DELAYED 0x02   /* se.sched_delayed */
#define WHYLATE_PREV_THROTTLED 0x04 /* throttled; before 6.18, cfs_rq.throttle_count */
#define WHYLATE_NEXT_DL_SERVER 0x08 /* dl_server */
#define WHYLATE_PREEMPT 0x10	    /* the tracepoint's argument */
#define WHYLATE_HAS_STEAL 0x20	    /* steal_ns is valid */
#define WHYLATE_PREV_IOWAIT 0x40    /* in_iowait */

/*
 * Cumulative times are 40 bits wide (a 32-bit low part, 8 bits above): they wrap after 18 minutes
 * of stolen time, and a reader that follows one CPU's records can undo that.
 */
struct whylate_switch {
	struct whylate_header header;
	__u32 prev;
	__u32 next;
	__u32 prev_state; /* the tracepoint's argument */
	struct whylate_standing prev_standing;
	struct whylate_standing next_standing;
	__u32 prev_arrival_ago_ns; /* rq clock - prev->sched_info.last_arrival */
	__u32 next_queued_ago_ns;  /* rq clock - next->sched_info.last_queued */
	__u32 irq_ns_low;
	__u32 softirq_ns_low;
	__u32 steal_ns_low;
	__u8 irq_ns_high;
	__u8 softirq_ns_high;
	__u8 steal_ns_high;
	__u8 bits;
};

enum whylate_context {
	WHYLATE_IN_TASK,
	WHYLATE_IN_IRQ,
	WHYLATE_IN_SOFTIRQ,
};

/* What interrupted, where the context is an interrupt. Softirqs have their vector number instead.
 */
enum whylate_irq_source {
	WHYLATE_IRQ_NONE,
	WHYLATE_IRQ_DEVICE, /* whylate_waking.irq is its number, the map irq_names has its name */
	WHYLATE_IRQ_LOCAL_TIMER,
	WHYLATE_IRQ_RESCHEDULE,
	WHYLATE_IRQ_CALL_FUNCTION,
	WHYLATE_IRQ_WORK,
	WHYLATE_IRQ_IPI, /* arm64: any of its inter-processor interrupts */
	WHYLATE_IRQ_SOURCE_END,
};

#define WHYLATE_WAKEE_ON_RQ 0x01
#define WHYLATE_WAKEE_ON_CPU 0x02

struct whylate_waking {
	struct whylate_header header;
	__u32 wakee;
	__u32 waker; /* current, also where the context is an interrupt */
	__u32 irq;
	__u8 context; /* enum whylate_context */
	__u8 source;  /* enum whylate_irq_source, or the softirq vector */
	__u8 bits;
	__u8 reserved;
};

/* sched_wakeup and sched_wakeup_new. */
struct whylate_wakeup {
	struct whylate_header header;
	__u32 wakee;
	__u16 target;
	struct whylate_standing standing;
};

struct whylate_migrate {
	struct whylate_header header;
	__u32 task;
	__u16 from;
	__u16 to;
};

struct whylate_fork {
	struct whylate_header header;
	__u32 parent;
	__u32 child;
	__u32 child_tgid;
	__u32 is_kernel_thread;
	char name[WHYLATE_NAME_LEN];
};

struct whylate_exit {
	struct whylate_header header;
	__u32 task;
	__u32 reserved;
};

/* exec and rename. */
struct whylate_name {
	struct whylate_header header;
	__u32 task;
	__u32 tgid;
	__u32 is_kernel_thread;
	__u32 reserved;
	char name[WHYLATE_NAME_LEN];
};

/* Both times are CLOCK_MONOTONIC, whichever clock the timer is on. */
struct whylate_timer_start {
	struct whylate_header header;
	__u32 task;
	__u32 mode; /* enum hrtimer_mode; bit 0 is HRTIMER_MODE_REL */
	__s64 expires_ns;
};

struct whylate_timer_expire {
	struct whylate_header header;
	__u32 task;
	__u32 reserved;
	__s64 expires_ns;
	__s64 now_ns; /* the interrupt's own reading of the clock */
};

/* whylate_affinity.kind */
enum whylate_affinity_kind {
	WHYLATE_AFFINITY_OF_RECORD = 1, /* belongs to the record before it */
	WHYLATE_AFFINITY_SET,		/* sched_setaffinity() returned */
	WHYLATE_AFFINITY_KIND_END,
};

struct whylate_affinity {
	struct whylate_header header;
	__u32 task;
	__u16 first_cpu; /* of mask, a multiple of WHYLATE_MASK_CPUS */
	__u8 kind;
	__u8 is_last; /* of the chunks of one mask */
	__u32 by;     /* WHYLATE_AFFINITY_SET: who called */
	__u32 reserved;
	__u64 mask[WHYLATE_MASK_WORDS];
};

struct whylate_cpu_seed {
	struct whylate_header header;
	__u32 current_task;
	struct whylate_standing standing;
	__u16 reserved;
};

#define WHYLATE_SEED_ON_RQ 0x01
#define WHYLATE_SEED_KERNEL_THREAD 0x02

struct whylate_task_seed {
	struct whylate_header header;
	__u32 task;
	__u32 tgid;
	__u16 queued_on;
	struct whylate_standing standing;
	__u8 bits;
	__u8 reserved[3];
	char name[WHYLATE_NAME_LEN];
};

/* What one source took from the task on this CPU since the switch before. */
struct whylate_irq_time {
	struct whylate_header header;
	__u64 ns;
	__u32 count;
	__u32 irq;
	__u8 context; /* enum whylate_context, WHYLATE_IN_TASK for none */
	__u8 source;  /* as in whylate_waking */
	__u8 reserved[6];
};

/* Where the sleep of a watched task began: a key of the map of stacks. */
struct whylate_stack {
	struct whylate_header header;
	__u32 task;
	__u32 stack;
};

/* What a worker of the workqueues worked on last: struct worker's desc. */
struct whylate_work {
	struct whylate_header header;
	__u32 task;
	__u32 reserved;
	char work[WHYLATE_WORK_LEN];
};

/* A task that was throttled on this CPU is queued again. */
struct whylate_unthrottle {
	struct whylate_header header;
	__u32 task;
	__u32 reserved;
	__u64 quota_ns; /* 0: not known */
	__u64 period_ns;
	char group[WHYLATE_WORK_LEN]; /* the end of its cgroup's name is cut off */
};

/* A system call gave a watched task another policy or priority. */
struct whylate_new_standing {
	struct whylate_header header;
	__u32 task;
	__u32 by;
	struct whylate_standing standing;
	__u8 reserved[6];
};

struct whylate_cgroup {
	struct whylate_header header;
	__u32 task;
	__u32 by;
	char path[WHYLATE_PATH_LEN];
};

/* A watched process is told to stop, by a signal of job control. */
struct whylate_stop {
	struct whylate_header header;
	__u32 task;
	__u32 by;
};

/* Sources of interrupts that are told apart within one stint; the time of others has no name. */
#define WHYLATE_IRQ_SLOTS 6

struct whylate_irq_slot {
	__u64 ns;
	__u64 name; /* kernel address of a device's */
	__u32 count;
	__u32 irq;
	__u8 context;
	__u8 source;
	__u8 reserved[6];
};

/* Throttled tasks of one CPU that are watched for their return; others return unseen. */
#define WHYLATE_THROTTLE_SLOTS 8

/*
 * One CPU's state; only programs on that CPU write it, but for `throttled`, by atomic operations.
 * Cache line pairs, so that no two share one.
 */
struct whylate_cpu {
	__u64 attempts;
	__u64 lost;
	__u64 irq_ns;
	__u64 softirq_ns;
	__u64 irq_begin_ns;	    /* nonzero: in a hard interrupt */
	__u64 softirq_begin_ns;	    /* nonzero: in a softirq */
	__u64 softirq_begin_irq_ns; /* irq_ns then */
	__u64 irq_name;		    /* kernel address of the device interrupt's name */
	__u32 irq;
	__u8 irq_source;
	__u8 softirq_vector;
	__u16 irq_slots_used;
	struct whylate_irq_slot irq_slots[WHYLATE_IRQ_SLOTS];
	__u64 throttled[WHYLATE_THROTTLE_SLOTS]; /* addresses of task_structs, or 0 */
} __attribute__((aligned(128)));

#define WHYLATE_ASSERT_SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type)
#ifdef __cplusplus
#undef WHYLATE_ASSERT_SIZE
#define WHYLATE_ASSERT_SIZE(type, size) static_assert(sizeof(struct type) == (size), #type)
#endif
WHYLATE_ASSERT_SIZE(whylate_header, 16);
WHYLATE_ASSERT_SIZE(whylate_switch, 56);
WHYLATE_ASSERT_SIZE(whylate_waking, 32);
WHYLATE_ASSERT_SIZE(whylate_wakeup, 24);
WHYLATE_ASSERT_SIZE(whylate_migrate, 24);
WHYLATE_ASSERT_SIZE(whylate_fork, 48);
WHYLATE_ASSERT_SIZE(whylate_exit, 24);
WHYLATE_ASSERT_SIZE(whylate_name, 48);
WHYLATE_ASSERT_SIZE(whylate_timer_start, 32);
WHYLATE_ASSERT_SIZE(whylate_timer_expire, 40);
WHYLATE_ASSERT_SIZE(whylate_affinity, 64);
WHYLATE_ASSERT_SIZE(whylate_cpu_seed, 24);
WHYLATE_ASSERT_SIZE(whylate_task_seed, 48);
WHYLATE_ASSERT_SIZE(whylate_irq_time, 40);
WHYLATE_ASSERT_SIZE(whylate_stack, 24);
WHYLATE_ASSERT_SIZE(whylate_work, 56);
WHYLATE_ASSERT_SIZE(whylate_unthrottle, 72);
WHYLATE_ASSERT_SIZE(whylate_new_standing, 32);
WHYLATE_ASSERT_SIZE(whylate_cgroup, 152);
WHYLATE_ASSERT_SIZE(whylate_stop, 24);
WHYLATE_ASSERT_SIZE(whylate_irq_slot, 32);
WHYLATE_ASSERT_SIZE(whylate_cpu, 384);

#endif /* WHYLATE_BPF_SCHED_EVENT_H_ */
