#!/bin/sh
# The project's own measurements on this machine: host times are benchmarks, never assertions; simulated cycles are exact.
set -eu
build=${1:-build}
out=$build/bench-out
tessera=$build/tessera
mkdir -p "$out"
field() { sed -n "s/.*\"$1\":\([-0-9.e+]*\).*/\1/p"; }

printf 'machine: %s, %s cores\n' "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)"
printf '%-18s %10s %12s %12s %14s %10s %10s\n' model 'compile s' 'compile MiB' 'call s' 'sim. cycles' 'phases' 'run MiB'
for row in "siglip-tiny --tiles 64" "siglip-base-ish --tiles 1472"; do
    # shellcheck disable=SC2086
    set -- $row
    model=$1
    "$tessera" fixture "$model" "$out/$model" >/dev/null
    c=$("$tessera" compile "$out/$model" -o "$out/$model.ipuexe" "$2" "$3" --json -q)
    v=$("$tessera" verify "$out/$model.ipuexe" --weights "$out/$model" '#1' '#2' '#3' --json -q)
    printf '%-18s %10.2f %12.0f %12.3f %14s %10s %10.0f\n' "$model" "$(echo "$c" | field seconds)" \
        "$(echo "$c" | field peak_bytes | awk '{print $1/1048576}')" "$(echo "$v" | field host_seconds_call)" \
        "$(echo "$v" | field simulated_cycles)" "$(echo "$v" | field phases)" "$(echo "$v" | field peak_bytes | awk '{print $1/1048576}')"
done
printf '\none tile, one thread:\n'
"$build/bench/tile_speed"
printf "\nmatrix products on one tile, one thread:\n"
OMP_NUM_THREADS=1 "$build/bench/gemm_speed"
printf "\nthe exchange of all tiles, two threads:\n"
"$build/bench/fabric_speed"
