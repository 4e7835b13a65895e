# Output that cannot be written is an error; a target that is no regular file is never replaced.
$ cd $T && tessera fixture siglip-tiny m >/dev/null 2>&1 && mkfifo pipe && mkdir dir
$ for o in pipe dir none/p.ipuexe ""; do tessera compile m -o "$o" --tiles 64 -q >/dev/null 2>err; echo "$o: $? $(wc -l <err) $(cat err)"; done; test -p pipe && echo pipe
$ tessera compile m -o p.ipuexe --tiles 64 -q >&- 2>err; echo "closed: $? $(cat err)"
$ tessera compile m -o p.ipuexe --tiles 64 -q >/dev/null && tessera inspect p.ipuexe >/dev/full 2>err; echo "full: $? $(cat err)"
$ tessera run p.ipuexe --weights m '#1' -q >/dev/full 2>err; echo "run: $? $(cat err)"
$ ls
$ echo old >file && ln -s file link && tessera run p.ipuexe --weights m '#1' -q -o link >/dev/null && test -L link && head -c 6 file | tail -c 5 && echo
$ ln -s nothing dangling; tessera run p.ipuexe --weights m '#1' -q -o dangling 2>&1; tessera run p.ipuexe --weights m '#1' -q -o /dev/stdout 2>&1 >file | cat; test -L /dev/stdout && echo link
$ cp file x.npy; for o in p.ipuexe m/config.json x.npy; do tessera run p.ipuexe --weights m x.npy -q -o $o 2>&1; done; tessera compile m -o m/model.safetensors 2>&1; true
$ mkdir small && (ulimit -f 100; tessera compile m -o small/p.ipuexe --tiles 64 -q 2>&1 >/dev/null); ls small
$ case $BUILD in *asan*) ;; *) ulimit -v 8000000 ;; esac # the sanitizer reserves more
$ (tessera run p.ipuexe --weights m '#1' -q >/dev/null && echo runs)
$ tessera --help 2>&1 >/dev/full; tessera --version 2>&1 >/dev/full; true
---
pipe: 2 1 tessera: pipe: cannot be written: it is no regular file
dir: 2 1 tessera: dir: cannot be written: it is a directory
~none/p.ipuexe: 2 1 tessera: none/p.ipuexe: cannot be written: No such file or directory
: 2 1 tessera: output name is empty or too long
pipe
closed: 2 tessera: standard output: cannot be written
full: 2 tessera: standard output: cannot be written
run: 2 tessera: standard output: cannot be written
dir
err
m
p.ipuexe
pipe
NUMPY
tessera: dangling: cannot be written: it is a link to nothing
tessera: /dev/stdout: cannot be written: it is no regular file
link
tessera: p.ipuexe: is an input of this command; choose another output
tessera: m/config.json: is an input of this command; choose another output
tessera: x.npy: is an input of this command; choose another output
tessera: m/model.safetensors: is an input of this command; choose another output
tessera: small/p.ipuexe: cannot be written: File too large
runs
tessera: standard output: cannot be written
tessera: standard output: cannot be written
