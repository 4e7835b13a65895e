# The checks of the machine change neither cycles nor outputs of a program without faults; a list is checked before anything is read.
$ tessera fixture siglip-tiny $T/m >/dev/null 2>&1; cd $T; tessera compile m -o p.ipuexe --tiles=64 -q >/dev/null || exit 9
> run() { tessera run p.ipuexe --weights m '#1' -q -o e$1.npy --check "$1" | grep cycles >e$1.txt; }
$ for list in default all none race,buffers -poison; do run $list; cmp e$list.npy edefault.npy && cmp e$list.txt edefault.txt && echo "$list: same"; done
$ tessera verify p.ipuexe --weights m -q --check all | grep -c 'worst cosine'
$ tessera run nowhere.ipuexe --weights m '#1' --check '' 2>&1; echo $?
---
default: same
all: same
none: same
race,buffers: same
-poison: same
1
~tessera: option --check: "" is no check; expected a list of poison, alignment, conflict, race, code, buffers, all, .*
2
