#!/bin/bash
# Runs commands inside Debian's own kernels, under qemu without KVM: proof that the eBPF programs load
# and deliver on other kernels than this machine's, with other CPUs, and under cgroup version 2.
#
#   scripts/qemu_kernels.sh build/tests/whylate_trace_tests ['build/userspace/whylate selftest'..]
#
# Needs the packages qemu-system-x86, busybox-static, cpio, and apt sources with Debian 12. Kernel
# packages are kept in $WHYLATE_KERNEL_CACHE (default: ~/.cache/whylate-kernels). The guests get
# $WHYLATE_QEMU_CPUS virtual CPUs (2), which from 4 on are of two sockets, and must end within
# $WHYLATE_QEMU_SECONDS (170).
#
# $WHYLATE_QEMU_SHIFT: the guest's clock goes by 2^SHIFT ns with each instruction, and leaps over what
# is idle, rather than with the time. As long as few of its CPUs are busy, deadlines are the guest's
# own then, however slow the host is. Not for Linux 6.1, which hangs then when it starts its other CPUs.
# $WHYLATE_QEMU_KERNELS: the packages that name the newest image of a series; by default those of 6.1, the
# oldest that is supported, and of 6.12.
# Exit 0: every command succeeded on every kernel, and no test was skipped. 77: this machine lacks what
# it takes, and says what.
set -euo pipefail

read -ra META_PACKAGES <<<"${WHYLATE_QEMU_KERNELS:-linux-image-cloud-amd64 linux-image-6.12-cloud-amd64}"
readonly META_PACKAGES
readonly CACHE=${WHYLATE_KERNEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/whylate-kernels}
readonly CPUS=${WHYLATE_QEMU_CPUS:-2}
readonly SECONDS_EACH=${WHYLATE_QEMU_SECONDS:-170}
readonly SHIFT=${WHYLATE_QEMU_SHIFT:-}

fail() {
  echo "qemu_kernels: $*" >&2
  exit 1
}

lacks() {
  echo "qemu_kernels: $*" >&2
  exit 77
}

# Path of the kernel that `meta` depends on, downloaded if it is not there yet.
fetch_kernel() {
  local meta=$1 package download
  package=$(apt-cache depends "$meta" 2>/dev/null | sed -n 's/^ *Depends: //p' | head -n 1)
  [[ -n $package ]] || lacks "apt knows no package $meta (apt-get update?)"
  if [[ ! -e $CACHE/$package.vmlinuz ]]; then
    download=$(mktemp -d -p "$CACHE")
    (cd "$download" && apt-get download -q "$package" >&2) || lacks "cannot download $package"
    dpkg-deb --fsys-tarfile "$download"/*.deb |
      tar -xO --wildcards './boot/vmlinuz-*' >"$download/vmlinuz"
    mv "$download/vmlinuz" "$CACHE/$package.vmlinuz"
    rm -r "$download"
  fi
  echo "$CACHE/$package.vmlinuz"
}

# An initramfs with busybox, the commands' programs, and the libraries they load.
make_initramfs() {
  local root=$1 command binary library
  shift
  mkdir -p "$root"/{bin,proc,sys,dev,tmp,tests}
  cp "$(command -v busybox)" "$root/bin/busybox"
  for command in "$@"; do
    binary=${command%% *}
    echo "/tests/$(basename "$binary")${command#"$binary"}" >>"$root/commands"
    cp "$binary" "$root/tests/"
    for library in $(ldd "$binary" | grep -o '/[^ ]*'); do
      mkdir -p "$root$(dirname "$library")"
      cp -Ln "$library" "$root$library"
    done
  done
  cat >"$root/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo +cpu +memory >/sys/fs/cgroup/cgroup.subtree_control
mount -t tracefs tracefs /sys/kernel/tracing
cd /tmp
echo "GUEST kernel $(uname -r), $(grep -c ^processor /proc/cpuinfo) CPUs"
while read -r command; do
  if $command </dev/null; then echo "GUEST passed $command"; else echo "GUEST failed $command"; fi
done </commands
echo "GUEST end"
poweroff -f
INIT
  chmod +x "$root/init"
  (cd "$root" && find . | cpio --quiet -o -H newc | gzip -1) >"$root.gz"
}

# thread=single: with a host thread for each virtual CPU, qemu 7.2's TCG can execute an instruction
# that the guest has already patched back, and the guest dies of "Oops: int3" (seen on 6.12 when
# tracepoints were turned on).
#
# Boots one kernel; true when all `count` commands succeeded and no test was skipped.
run_kernel() {
  local kernel=$1 initramfs=$2 count=$3 log=$4 smp=$CPUS
  local -a clock=()
  ((CPUS < 4)) || smp=$CPUS,sockets=2,cores=$((CPUS / 2)),threads=1
  [[ -z $SHIFT || $kernel == *linux-image-6.1.* ]] || clock=(-icount "shift=$SHIFT,sleep=off")
  timeout "$SECONDS_EACH" qemu-system-x86_64 -accel tcg,thread=single -cpu max -smp "$smp" \
    "${clock[@]}" -m 1024 -kernel "$kernel" -initrd "$initramfs" -nographic -no-reboot \
    -append 'console=ttyS0 quiet panic=-1 mitigations=off' </dev/null >"$log" 2>&1 || true
  tr -d '\r' <"$log" | sed 's,^.*GUEST,GUEST,' | sed -n '/^GUEST/,$p'
  grep -q 'GUEST end' "$log" || tail -n 20 "$log"
  [[ $(grep -c 'GUEST passed' "$log") -eq $count ]] && ! grep -q SKIPPED "$log"
}

main() {
  local work meta kernel result=0
  [[ $# -gt 0 ]] || fail "usage: $0 COMMAND..."
  for tool in qemu-system-x86_64 busybox cpio apt-get; do
    command -v "$tool" >/dev/null || lacks "$tool is not installed"
  done
  [[ $(uname -m) == x86_64 ]] || lacks "the guests are x86-64, and this machine is $(uname -m)"
  mkdir -p "$CACHE"
  work=$(mktemp -d)
  # shellcheck disable=SC2064  # the folder's name is known now
  trap "rm -rf '$work'" EXIT
  make_initramfs "$work/root" "$@"
  for meta in "${META_PACKAGES[@]}"; do
    kernel=$(fetch_kernel "$meta")
    if run_kernel "$kernel" "$work/root.gz" $# "$work/log"; then
      echo "ok: $(basename "$kernel" .vmlinuz)"
    else
      echo "NOT ok: $(basename "$kernel" .vmlinuz)"
      result=1
    fi
  done
  return $result
}

main "$@"
