# Usage errors: one line on stderr, exit 2, nothing written.
$ for args in "" "frobnicate" "compile" "compile m" "compile m -o p --frob" "compile m -o p --tiles 0" "compile m -o p --tiles" "compile m -o p --tiles 1473" \
> "compile m -o p --batch 2" "compile m -o p --precision fp8" "compile m -o p --dump=graph,soup" "compile m -o p --stop-after=soup" "compile m -o p --plan x" "compile m -o p --exchange-stream-words -1" \
> "run" "run p" "run p --weights" "run p --check soup" "verify p --check +race,soup" "verify" "verify p --weights m --min-cosine 2" "inspect" "inspect a b" "inspect p --code 1472" "fixture" "info" "info --frob"; do
>   tessera $args >/dev/null 2>$T/err; code=$?
>   [ "$args" = "" ] && { echo "none: $code"; continue; }
>   echo "$args: $code $(wc -l <$T/err) $(cat $T/err)"
> done; true
---
none: 2
~frobnicate: 2 1 tessera: unknown command frobnicate \(see tessera --help\)
~compile: 2 1 tessera: compile needs a MODEL .*
~compile m: 2 1 tessera: compile needs -o P.ipuexe .*
~compile m -o p --frob: 2 1 tessera: unknown option --frob .*
~compile m -o p --tiles 0: 2 1 tessera: option --tiles: expected an integer from 1 to 1472, found 0
~compile m -o p --tiles: 2 1 tessera: option --tiles needs a value: N
~compile m -o p --tiles 1473: 2 1 tessera: option --tiles: expected an integer from 1 to 1472, found 1473
~compile m -o p --batch 2: 2 1 tessera: option --batch 2 is not supported in this version; expected 1
~compile m -o p --precision fp8: 2 1 tessera: option --precision fp8 is not supported in this version; expected fp16
~compile m -o p --dump=graph,soup: 2 1 tessera: option --dump: no stage "soup" \(graph, plan, .*
~compile m -o p --stop-after=soup: 2 1 tessera: option --stop-after: no stage "soup" \(graph, plan, .*
~compile m -o p --plan x: 2 1 tessera: option --plan is not supported in this version
~compile m -o p --exchange-stream-words -1: 2 1 tessera: option --exchange-stream-words: expected an integer from 0 .*
~run: 2 1 tessera: P.ipuexe is missing .*
~run p: 2 1 tessera: --weights MODEL is missing .*
~run p --weights: 2 1 tessera: option --weights needs a value: MODEL
~run p --check soup: 2 1 tessera: option --check: "soup" is no check; expected a list of poison, .*
~verify p --check \+race,soup: 2 1 tessera: option --check: .*
~verify: 2 1 tessera: verify needs P.ipuexe.*
~verify p --weights m --min-cosine 2: 2 1 tessera: option --min-cosine: expected -1..1, found 2
~inspect: 2 1 tessera: inspect needs P.ipuexe.*
~inspect a b: 2 1 tessera: one package expected, found also b
~inspect p --code 1472: 2 1 tessera: option --code: expected an integer from 0 to 1471, found 1472
~fixture: 2 1 tessera: .*
~info: 2 1 tessera: .*
~info --frob: 2 1 tessera: unknown option --frob .*
