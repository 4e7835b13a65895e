# Simulated cycles are deterministic, so performance is a golden file (bench/cycles.golden); a change is blessed and explained.
$ cd $T && for row in "siglip-tiny 64" "siglip-base-ish 1472"; do
>   set -- $row; tessera fixture $1 $1 >/dev/null 2>&1; tessera compile $1 -o $1.ipuexe --tiles $2 -q >/dev/null
>   tessera verify $1.ipuexe --weights $1 '#1' --min-cosine 0.999 --json -q >out || exit
>   printf '%s tiles=%s' $1 $2; sed -n 's/.*"simulated_cycles":\([0-9]*\),"phases":\([0-9]*\),"simulated_cycles_low":\([0-9]*\),"simulated_cycles_high":\([0-9]*\).*/ simulated_cycles=\1 phases=\2 at_240=\3 at_330=\4/p' out
> done >found; golden=$OLDPWD/bench/cycles.golden; [ -z "$BLESS" ] || cp found "$golden"; diff found "$golden" && echo same
---
same
