# SPDX-License-Identifier: Apache-2.0
# Functions for scripts that work in a bare Debian 12: a root file system in a temporary folder, which `leave` removes.
# The script sets name (of its messages), root and work (folders of its own) before it includes this file.
skip() { echo "$name: skipped: $*"; exit 77; }
die() { echo "$name: $*" >&2; exit 1; }
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }

# Skips the test where a root cannot be made.
need_root() {
  [ "$(id -u)" = 0 ] || skip "only root can make a root file system"
  command -v debootstrap >/dev/null || skip "debootstrap is not installed (scripts/setup test)"
}

# Unmounts and removes the root; with --keep, says where it is.
leave() {
  umount "$root/proc" 2>/dev/null
  if [ "${1:-}" = --keep ]; then echo "$name: the root is $root"; else rm -rf --one-file-system "$work"; fi
}

# Makes a minimal Debian in $root. It is kept in build/bare for a week.
make_minimal() {
  local mirror kept=build/bare/minimal.tar
  mkdir -p build/bare
  find build/bare -name 'minimal.tar*' -mtime +7 -delete
  if [ -s "$kept" ]; then
    tar -C "$root" -xpf "$kept" || die "cannot unpack $kept"
    return
  fi
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 2>/dev/null | grep -v security | head -n 1)
  echo "$name: making a minimal Debian 12"
  debootstrap --variant=minbase bookworm "$root" ${mirror:+"$mirror"} >"$work/log" 2>&1 || {
    tail -n 3 "$work/log"
    skip "debootstrap cannot make a root here (last lines above)"
  }
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  cp /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d/" 2>/dev/null
  tar -C "$root" --one-file-system --exclude='./var/cache/apt/archives/*.deb' -cpf "$kept.$$" . &&
    mv "$kept.$$" "$kept" || rm -f "$kept.$$"
}

mount_proc() {
  mount -t proc proc "$root/proc" 2>/dev/null || mount --bind /proc "$root/proc" || skip "cannot mount /proc in a root"
}
