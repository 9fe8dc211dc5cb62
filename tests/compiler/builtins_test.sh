#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# builtins_test.sh CLANG BIN LIBDIR VERSION: no built-in function that the front end declares
# is missing from the library.
set -e
clang=$1 bin=$2 lib=$3 version=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$(dirname "$0")/builtins.py" "$clang" "$version" > "$work/all.cl"
extensions=$(python3 "$(dirname "$0")/builtins.py" --extensions "$version")
macros=$(python3 "$(dirname "$0")/builtins.py" --macros "$version")
"$clang" --target=nvptx64-unknown-unknown -U__NVPTX__ -U__PTX__ -x cl "-cl-std=$version" $macros -O2 -w \
    -Xclang -disable-llvm-passes -Xclang "-cl-ext=$extensions" -emit-llvm -c -o "$work/all.bc" "$work/all.cl"
"$bin/llvm-nm" -u "$work/all.bc" | awk '{print $2}' | grep '^_Z' | sort -u > "$work/need"
"$bin/llvm-nm" --defined-only "$lib/builtins.bc" "$lib/clc.bc" "$lib/half.bc" "$lib/images.bc" 2>/dev/null |
    awk 'NF == 3 {print $3}' | sort -u > "$work/have"
comm -23 "$work/need" "$work/have" > "$work/missing"
count=$(wc -l < "$work/need")
echo "$count functions, $(wc -l < "$work/missing") missing"
head -20 "$work/missing"
[ "$count" -gt 9000 ] && [ ! -s "$work/missing" ]
