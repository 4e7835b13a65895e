# The problem of the fullest tile can be saved and is the one of the corpus; where nothing is placed there is none.
$ tessera fixture siglip-tiny $T/tiny >/dev/null 2>&1
$ tessera compile $T/tiny --stop-after place --save-problem $T/tile.place -q; echo $?
$ tessera bench place $T/tile.place -q | grep -c placed
$ cmp $T/tile.place bench/place/siglip-tiny.place && echo same
$ tessera compile $T/tiny --stop-after work --save-problem $T/none.place -q; echo $?; [ -e $T/none.place ] || echo none
--- exit 0
0
2
same
tessera: option --save-problem: nothing is placed before --stop-after
2
none
