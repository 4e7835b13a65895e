# A tile that does not fit is explained, behind the error; of the changes that are named one is made in the saved problem, and then it fits.
$ tessera fixture siglip-tiny $T/tiny >/dev/null 2>&1
$ tessera compile $T/tiny -o $T/p --tiles 7 --save-problem $T/tile.place >$T/out 2>$T/err; echo $? $(wc -c <$T/out)
$ sed -n '/^tessera/p; /^alive/p; /it would fit/,$p' $T/err; [ -e $T/p ] || echo no package
$ tessera bench place $T/tile.place -q >/dev/null; echo $?
$ tessera compile $T/tiny -o $T/p --tiles 7 --json -q | tr ',' '\n' | sed -n 's/.*"kind":"bytes".*/bytes/p; s/^"bytes":\([0-9]*\)}.*/\1/p' >$T/more; cat $T/more
$ tessera compile $T/tiny -o $T/p --tiles 7 --json -q 2>/dev/null | grep -o '"tiles_that_fit":[0-9]*'; tessera compile $T/tiny --tiles 8 --stop-after place -q; echo $?
$ more=$(sed -n '/^bytes/{n;p;}' $T/more); line=$(grep -n '^range' $T/tile.place | tail -1 | cut -d: -f1)
> end=$(sed -n "${line}s/.*end=\(0x[0-9a-f]*\).*/\1/p" $T/tile.place); limit=$(sed -n 's/^place.*limit=\(0x[0-9a-f]*\).*/\1/p' $T/tile.place)
> sed "${line}s/end=$end/end=$((end + more))/; s/limit=$limit/limit=$((limit + more))/" $T/tile.place >$T/larger.place
> tessera bench place $T/larger.place -q | grep -c placed; tessera bench place $T/larger.place -q >/dev/null; echo $?
> sed "${line}s/end=$end/end=$((end + more - 4096))/; s/limit=$limit/limit=$((limit + more - 4096))/" $T/tile.place >$T/less.place
> tessera bench place $T/less.place -q >/dev/null; echo $?
--- exit 0
1 0
tessera: tile L0 does not fit: 571640 bytes are alive in step 0, 539568 are available: short by 32072 bytes (proven); more tiles may help (--tiles)
alive on tile L0 in step 0, embedding, embedding.left: left-operand, of 539568 bytes:
it would fit, each tried alone, with
  at most 32768 bytes less for code and exchange rows
  at most 32768 bytes more memory
  trying more tiles
it is placed with --tiles 8; not all numbers below were tried
  problem of tile L0: tessera bench place $T/tile.place --explain
no package
1
tessera: tile L0 does not fit: 571640 bytes are alive in step 0, 539568 are available: short by 32072 bytes (proven); more tiles may help (--tiles)
32768
bytes
32768
"tiles_that_fit":8
0
2
0
1
