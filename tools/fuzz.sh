#!/bin/sh
# Runs every fuzz target of a build directory for a number of seconds, each on its own corpus in that
# directory, with the kernels and tests/fuzz/seeds to begin with (bytes like any others for targets of bytes). `make fuzz FUZZ_SECONDS=60`.
#
#   tools/fuzz.sh BUILD SECONDS
set -eu

build=$1
seconds=$2

for target in "$build"/tests/fuzz/fuzz_*; do
    case $target in *.o | *.d) continue ;; esac
    name=${target##*/}
    corpus=$build/corpus/$name
    mkdir -p "$corpus"
    log=$build/$name.log
    if ! "$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -max_len=2048 -len_control=20 \
        -artifact_prefix="$build/$name-" "$corpus" kernels tests/fuzz/seeds >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        echo "fuzz: $name failed; the input is $build/$name-*" >&2
        exit 1
    fi
    echo "$name: $(grep -o 'Done [0-9]* runs.*' "$log" || tail -n 1 "$log")"
done
