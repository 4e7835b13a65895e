# Bad packages and pictures: one clear line, the right exit code, no output file.
$ tessera fixture siglip-tiny $T/m >/dev/null 2>&1; here=$PWD; cd $T
> tessera compile m -o p.ipuexe --tiles 64 -q >/dev/null || exit 9
> try() { name=$1; shift; "$@" >/dev/null 2>err; echo "$name: $? $(wc -l <err) $(head -c 200 err)"; ls e.npy* 2>/dev/null; }
> head -c 100000 p.ipuexe >short.ipuexe; try truncated tessera run short.ipuexe --weights m '#1' -o e.npy -q
> : >empty.ipuexe; try empty tessera inspect empty.ipuexe
> head -c 4096 /dev/zero >zero.ipuexe; try zeros tessera inspect zero.ipuexe
> try nowhere tessera inspect nowhere.ipuexe
> printf 'no picture' >bad.png; try picture tessera run p.ipuexe --weights m bad.png -o e.npy -q
> head -c 3000 $here/demo/photos/astronaut.jpg >cut.jpg; try 'cut picture' tessera run p.ipuexe --weights m cut.jpg -o e.npy -q
> try 'no picture' tessera run p.ipuexe --weights m none.png -o e.npy -q
> tessera fixture siglip-base-ish b >/dev/null 2>&1; try 'other weights' tessera run p.ipuexe --weights b '#1' -o e.npy -q
> try threshold tessera verify p.ipuexe --weights m --min-cosine 1 -q
> try good tessera run p.ipuexe --weights m '#1' -q; true
---
~truncated: 2 1 tessera: .*
~empty: 2 1 tessera: .*
~zeros: 2 1 tessera: .*
~nowhere: 2 1 tessera: .*
~picture: 2 1 tessera: .*bad.png.*
~cut picture: 2 1 tessera: .*cut.jpg.*
~no picture: 2 1 tessera: .*none.png.*
~other weights: 2 1 tessera: .*
~threshold: 1 1 tessera: .*
~good: 0 0 *
