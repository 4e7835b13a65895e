# Bad packages and pictures: one clear line, the right exit code, no output file.
$ tessera fixture siglip-tiny $T/m >/dev/null 2>&1; here=$PWD; cd $T
> tessera compile m -o p.ipuexe --tiles 64 -q >/dev/null || exit 9
> try() { name=$1; shift; "$@" >/dev/null 2>err; echo "$name: $? $(wc -l <err) $(head -c 200 err)"; ls e.npy* 2>/dev/null; rm -f e.npy; }
> head -c 100000 p.ipuexe >short.ipuexe; try truncated tessera run short.ipuexe --weights m '#1' -o e.npy -q
> : >empty.ipuexe; try empty tessera inspect empty.ipuexe
> head -c 4096 /dev/zero >zero.ipuexe; try zeros tessera inspect zero.ipuexe
> try nowhere tessera inspect nowhere.ipuexe
> printf 'no picture' >bad.png; try picture tessera run p.ipuexe --weights m bad.png -o e.npy -q
> head -c 3000 $here/demo/photos/astronaut.jpg >cut.jpg; try 'cut picture' tessera run p.ipuexe --weights m cut.jpg -o e.npy -q
> try 'no picture' tessera run p.ipuexe --weights m none.png -o e.npy -q
> tessera fixture siglip-base-ish b >/dev/null 2>&1; try 'other weights' tessera run p.ipuexe --weights b '#1' -o e.npy -q
> try threshold tessera verify p.ipuexe --weights m --min-cosine 1 -q
> capnp decode $here/src/package/tessera.capnp Application <p.ipuexe >text || exit 8
> edit() { sed "$2" text | capnp encode $here/src/package/tessera.capnp Application >edited.ipuexe && try "$1" tessera run edited.ipuexe --weights m '#1' -o e.npy -q; }
> edit 'open name' 's/"embedding.bias"/"embedding.bia["/'
> edit 'long member' 's/"embedding.bias"/"embedding.bias[9223372036854775807]"/'
> edit 'uncovered' '/name = "pooler_output"/,/shape/s/shape = .*/shape = [2, 144],/'
> edit 'huge' '/name = "pooler_output"/,/shape/s/shape = .*/shape = [100000, 200000],/'
> edit 'escape' 's/"embedding.bias"/"embedding\\x1b[31m"/'
> perl -0pe 's/(  outputs = \[\n)(.*?\))( \],\n  weights)/my ($a, $r, $z) = ($1, $2, $3); (my $s = $r) =~ s{name = "[^"]*"}{name = "other"}; "$a$r,\n$s$z"/se; s/(\( kind = output,.*?\))( \],\n  isaFlags)/$1,\n$1$2/s' text >twice
> mv twice text; edit 'two outputs' 's/x/x/'
> try good tessera run p.ipuexe --weights m '#1' -q; true
---
~truncated: 2 1 tessera: short.ipuexe: is no valid package: Message ends prematurely.*
~empty: 2 1 tessera: empty.ipuexe: is no package or was cut off: 0 bytes.*
~zeros: 2 1 tessera: zero.ipuexe: is no valid package: .*root pointer.*
~nowhere: 2 1 tessera: nowhere.ipuexe: cannot be opened: No such file or directory
~picture: 2 1 tessera: bad.png: neither a JPEG nor a PNG picture
~cut picture: 2 1 tessera: cut.jpg: broken JPEG: .*
~no picture: 2 1 tessera: none.png: cannot be opened: .*
~other weights: 2 1 tessera: p.ipuexe: was compiled from another network than b .*
~threshold: 1 1 tessera: p.ipuexe: worst cosine 0.9999[0-9]* is below 1
~open name: 0 0 *
e.npy
~long member: 0 0 *
e.npy
~uncovered: 2 1 .*output "pooler_output" is 2 x 144, its shards hold 144 elements
~huge: 2 1 .*output "pooler_output" is 100000 x 200000, its shards hold 144 elements
escape: 2 1 tessera: edited.ipuexe: package: binding 2 has a name with a control character
two outputs: 2 1 tessera: edited.ipuexe: has several outputs, expected one
~good: 0 0 *
