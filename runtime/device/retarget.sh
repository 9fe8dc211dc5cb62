#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# retarget.sh BIN IN OUT: makes of libclc's nvptx--.bc a library for riscv32. It is plain IR with 32-bit pointers; only
# what names its target has to go. alwaysinline goes too: a call is dear here, but forty copies of sin are dearer.
set -e
"$1/llvm-dis" "$2" -o - | sed -E \
    -e 's/^target datalayout = .*/target datalayout = "e-m:e-p:32:32-i64:64-n32-S128"/' \
    -e 's/^target triple = .*/target triple = "riscv32-unknown-unknown-elf"/' \
    -e '/^attributes #/{s/ (alwaysinline|noinline) / /;s/"(frame-pointer|no-builtins|no-trapping-math|stack-protector-buffer-size|target-cpu|target-features|denormal-fp-math[^"]*)"(="[^"]*")?//g}' \
    -e '/^!llvm.ident/d;/^!llvm.module.flags/d' |
    "$1/llvm-as" -o "$3"
