# The same bytes for any -j.
$ cd $T && tessera fixture siglip-base-ish m >/dev/null 2>&1
$ tessera compile m -o a.ipuexe -q -j 1 >/dev/null && tessera compile m -o b.ipuexe -q -j 2 >/dev/null && tessera compile m -o c.ipuexe -q -j 5 >/dev/null
$ cmp a.ipuexe b.ipuexe && cmp a.ipuexe c.ipuexe && echo same
---
same
