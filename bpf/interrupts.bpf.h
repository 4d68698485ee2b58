/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Which interrupt a CPU is in, and the time that interrupts took from it.
 *
 * A start time is kept, not a depth: hard interrupts do not nest on Linux, and a lost entry or exit
 * then heals by itself. Softirq time excludes the hard interrupts inside it.
 *
 * Time is counted in all, and by source for the stint that goes on, in a few slots that the next
 * switch empties into records.
 */
#ifndef WHYLATE_BPF_INTERRUPTS_BPF_H_
#define WHYLATE_BPF_INTERRUPTS_BPF_H_

#include "bpf/capture_state.h"
#include "bpf/throttle.bpf.h"

static __always_inline int irq_begin(__u8 source, __u32 irq, const char *name)
{
	struct whylate_cpu *cpu = this_cpu();

	if (!cpu)
		return 0;
	cpu->irq_source = source;
	cpu->irq = irq;
	cpu->irq_name = (__u64)name;
	cpu->irq_begin_ns = bpf_ktime_get_ns();
	return 0;
}

__noinline int charge_source(__u8 context, __u8 source, __u32 irq, __u64 ns)
{
	struct whylate_cpu *cpu = this_cpu();
	struct whylate_irq_slot *slot;

	if (!cpu)
		return 0;
	for (__u32 i = 0; i < WHYLATE_IRQ_SLOTS; i++) {
		slot = &cpu->irq_slots[i];
		if (i >= cpu->irq_slots_used) {
			slot->ns = 0;
			slot->count = 0;
			slot->context = context;
			slot->source = source;
			slot->irq = irq;
			slot->name = cpu->irq_name;
			cpu->irq_slots_used = i + 1;
		} else if (slot->context != context || slot->source != source || slot->irq != irq) {
			continue;
		}
		slot->ns += ns;
		slot->count++;
		return 0;
	}
	return 0;
}

static __always_inline int irq_end(void)
{
	struct whylate_cpu *cpu = this_cpu();
	__u64 ns;

	if (!cpu || !cpu->irq_begin_ns)
		return 0;
	ns = bpf_ktime_get_ns() - cpu->irq_begin_ns;
	cpu->irq_ns += ns;
	cpu->irq_begin_ns = 0;
	charge_source(WHYLATE_IN_IRQ, cpu->irq_source, cpu->irq, ns);
	if (has_throttled(cpu))
		look_at_throttled(true);
	return 0;
}

static __always_inline void account_softirq(struct whylate_cpu *cpu, __u64 now_ns)
{
	__u64 irq_ns = cpu->irq_ns - cpu->softirq_begin_irq_ns;
	__u64 all_ns = now_ns - cpu->softirq_begin_ns;

	cpu->softirq_begin_ns = 0;
	if (all_ns <= irq_ns)
		return;
	cpu->softirq_ns += all_ns - irq_ns;
	charge_source(WHYLATE_IN_SOFTIRQ, cpu->softirq_vector, 0, all_ns - irq_ns);
}

static __always_inline void remember_irq_name(__u32 irq, __u64 name)
{
	struct irq_name value = {};

	if (bpf_map_lookup_elem(&irq_names, &irq))
		return;
	bpf_probe_read_kernel_str(value.name, sizeof(value.name), (const void *)name);
	bpf_map_update_elem(&irq_names, &irq, &value, BPF_ANY);
}

/* At a switch: the slots of the stint that ends; idle time is nobody's to take. */
__noinline int flush_irq_slots(__u64 time_ns, bool was_idle)
{
	struct whylate_cpu *cpu = this_cpu();
	struct whylate_irq_slot *slot;
	struct whylate_irq_time *record;
	__u32 used;

	if (!cpu)
		return 0;
	used = cpu->irq_slots_used;
	cpu->irq_slots_used = 0;
	for (__u32 i = 0; i < WHYLATE_IRQ_SLOTS; i++) {
		if (i >= used || was_idle)
			break;
		slot = &cpu->irq_slots[i];
		if (slot->context == WHYLATE_IN_IRQ && slot->source == WHYLATE_IRQ_DEVICE)
			remember_irq_name(slot->irq, slot->name);
		record = begin_record(cpu, time_ns, sizeof(*record), WHYLATE_IRQ_TIME);
		if (!record)
			continue;
		record->ns = slot->ns;
		record->count = slot->count;
		record->irq = slot->irq;
		record->context = slot->context;
		record->source = slot->source;
		end_record(record);
	}
	return 0;
}

/*
 * Nobody switches tasks inside an interrupt: what looks like one has lost its exit, or is a softirq
 * in a preemptible thread (PREEMPT_RT), whose time from here on is that thread's own.
 */
static __always_inline void leave_interrupts(struct whylate_cpu *cpu, __u64 now_ns)
{
	cpu->irq_begin_ns = 0;
	if (cpu->softirq_begin_ns)
		account_softirq(cpu, now_ns);
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_handler_exit)
{
	return irq_end();
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_handler_entry, int irq, struct irqaction *action)
{
	return irq_begin(WHYLATE_IRQ_DEVICE, irq, action->name);
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit)
{
	struct whylate_cpu *cpu = this_cpu();

	if (cpu && cpu->softirq_begin_ns)
		account_softirq(cpu, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry, unsigned int vector)
{
	struct whylate_cpu *cpu = this_cpu();

	if (!cpu)
		return 0;
	cpu->softirq_vector = vector;
	cpu->softirq_begin_irq_ns = cpu->irq_ns;
	cpu->softirq_begin_ns = bpf_ktime_get_ns();
	return 0;
}

#define IRQ_VECTOR(tracepoint, source)                                                             \
	SEC("tp_btf/" #tracepoint "_exit")                                                         \
	int BPF_PROG(on_##tracepoint##_exit)                                                       \
	{                                                                                          \
		return irq_end();                                                                  \
	}                                                                                          \
	SEC("tp_btf/" #tracepoint "_entry")                                                        \
	int BPF_PROG(on_##tracepoint##_entry)                                                      \
	{                                                                                          \
		return irq_begin(source, 0, NULL);                                                 \
	}

#if defined(__TARGET_ARCH_x86)
/* arch/x86/include/asm/trace/irq_vectors.h */
IRQ_VECTOR(local_timer, WHYLATE_IRQ_LOCAL_TIMER)
IRQ_VECTOR(reschedule, WHYLATE_IRQ_RESCHEDULE)
IRQ_VECTOR(call_function, WHYLATE_IRQ_CALL_FUNCTION)
IRQ_VECTOR(call_function_single, WHYLATE_IRQ_CALL_FUNCTION)
IRQ_VECTOR(irq_work, WHYLATE_IRQ_WORK)
#else
/* arch/arm64/kernel/smp.c, do_handle_IPI(); its timer is an ordinary irq_handler */
IRQ_VECTOR(ipi, WHYLATE_IRQ_IPI)
#endif

#endif /* WHYLATE_BPF_INTERRUPTS_BPF_H_ */
