#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# retarget.sh BIN LINKAGE IN OUT [generic]: makes a library of IR for riscv32. Whatever names the front end's target goes, and
# definitions get one linkage: external, to be linked with others, or linkonce_odr, so that a program takes only what it
# needs. generic (libclc): alwaysinline goes too: a call is dear here, but forty copies of sin are dearer.
set -e
linkage="$2 "
[ "$2" = external ] && linkage=""
inline=""
[ "$5" = generic ] && inline='/^attributes #/s/ (alwaysinline|noinline) / /'
"$1/llvm-dis" "$3" -o - | sed -E \
    -e 's/^target datalayout = .*/target datalayout = "e-m:e-p:32:32-i64:64-n32-S128"/' \
    -e 's/^target triple = .*/target triple = "riscv32-unknown-unknown-elf"/' \
    -e "/^define (internal|private)/!s/^define (linkonce_odr |weak |weak_odr )?/define $linkage/" \
    -e '/^attributes #/s/"(frame-pointer|no-builtins|no-trapping-math|stack-protector-buffer-size|target-cpu|target-features|denormal-fp-math[^"]*)"(="[^"]*")?//g' \
    -e "$inline" -e '/^!llvm.ident/d;/^!llvm.module.flags/d' |
    "$1/llvm-as" -o "$4"
