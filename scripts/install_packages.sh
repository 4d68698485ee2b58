#!/bin/bash
# Installs what whylate is built with, where it is missing (Debian 12). As root.
#   scripts/install_packages.sh [build|test]     default: build
set -euo pipefail

packages=(g++ cmake ninja-build pkg-config libabsl-dev nlohmann-json3-dev libprotozero-dev libcli11-dev
  libgtest-dev libgmock-dev libtraceevent-dev libtracecmd-dev libtracefs-dev libbpf-dev zlib1g-dev libelf-dev clang
  bpftool)
if [[ "${1:-build}" == test ]]; then
  packages+=(shellcheck clang-format libclang-rt-14-dev e2fsprogs qemu-system-x86 busybox-static cpio)
fi

missing=()
for package in "${packages[@]}"; do
  if [[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]]; then
    missing+=("$package")
  fi
done
((${#missing[@]} == 0)) && exit 0

if ((EUID != 0)); then
  echo "install_packages.sh: missing: ${missing[*]}; run as root, or install them" >&2
  exit 1
fi
echo "installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
