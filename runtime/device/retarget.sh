#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# retarget.sh BIN LINKAGE IN OUT [generic [NAME:TYPES]...]: makes a library of IR for riscv32. Removes everything that
# names the front end's target, and gives all definitions one linkage: external, for linking with other libraries, or
# linkonce_odr, so that a program takes only the functions that it needs. generic (libclc): also removes alwaysinline,
# because forty copies of sin cost more than calls; and renames the scalar functions NAME whose first parameter is of
# TYPES (f, d) to generic_NAME, which Tern's own NAME calls.
# Loads marked as nontemporal become invariant loads, for which the front end has no name (image_core.h).
set -e
linkage="$2 "
[ "$2" = external ] && linkage=""
inline=""
[ "$5" = generic ] && inline='/^attributes #/s/ (alwaysinline|noinline) / /'
bin=$1 in=$3 out=$4 rename=""
shift $(($# < 5 ? $# : 5))
for function in "$@"; do
    name=${function%:*} types=${function#*:}
    rename="$rename;s/@_Z${#name}$name([$types][A-Za-z0-9]*)\\(/@_Z$((${#name} + 8))generic_$name\\1(/g"
done
"$bin/llvm-dis" "$in" -o - | sed -E \
    -e 's/^target datalayout = .*/target datalayout = "e-m:e-p:32:32-i64:64-n32-S128"/' \
    -e 's/^target triple = .*/target triple = "riscv32-unknown-unknown-elf"/' \
    -e "/^define (internal|private)/!s/^define (linkonce_odr |weak |weak_odr )?/define $linkage/" \
    -e '/^attributes #/s/"(frame-pointer|no-builtins|no-trapping-math|stack-protector-buffer-size)"(="[^"]*")?//g' \
    -e '/^attributes #/s/"(target-cpu|target-features|denormal-fp-math[^"]*)"(="[^"]*")?//g' \
    -e 's/!nontemporal !/!invariant.load !/' -e "$inline" -e "${rename#;}" -e '/^!llvm.ident/d;/^!llvm.module.flags/d' |
    "$bin/llvm-as" -o "$out"
