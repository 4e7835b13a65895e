# The problem of the fullest tile can be saved and is the one of the corpus; where nothing is placed there is none; a tile may be picked.
$ tessera fixture siglip-tiny $T/tiny >/dev/null 2>&1
$ tessera compile $T/tiny --stop-after place --save-problem $T/tile.place -q; echo $?
$ tessera bench place $T/tile.place -q | grep -c placed
$ cmp $T/tile.place bench/place/siglip-tiny.place && echo same
$ tessera compile $T/tiny --stop-after work --save-problem $T/none.place -q; echo $?; [ -e $T/none.place ] || echo none
$ tessera compile $T/tiny --stop-after place --save-problem $T/tile.place --problem-tile 1471 -q; echo $?; head -1 $T/tile.place | cut -d' ' -f1,2
$ tessera compile $T/tiny -o $T/p --tiles 7 --save-problem $T/tile.place --problem-tile 3 -q 2>/dev/null; echo $?; head -1 $T/tile.place | cut -d' ' -f1,2
$ tessera bench place $T/tile.place -q | grep -c impossible
$ tessera compile $T/tiny -o $T/p --tiles 7 --save-problem $T/none.place --problem-tile 7; echo $?
$ tessera compile $T/tiny -o $T/p --save-problem $T/none.place --problem-tile 1472; echo $?
$ tessera compile $T/tiny -o $T/p --problem-tile 0; echo $?; [ -e $T/none.place ] || echo none
$ tessera compile $T/tiny -o $T/z --save-problem $T/./z -q; echo $?; [ -e $T/z ] || echo none
--- exit 0
0
2
same
tessera: option --save-problem: nothing is placed before --stop-after
2
none
0
place tile=1471
1
place tile=3
1
tessera: option --problem-tile: expected a tile below --tiles 7, found 7
2
tessera: option --problem-tile: expected an integer from 0 to 1471, found 1472
2
tessera: option --problem-tile needs --save-problem
2
none
tessera: $T/./z: is the package; choose another --save-problem
2
none
