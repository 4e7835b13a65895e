# Pictures as .npy, thresholds and orders of calls: what is refused before anything runs, and what run writes.
$ npy() { printf '\223NUMPY\001\000\166\000' >$1; printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': $2, }" >>$1; head -c $3 /dev/zero >>$1; }
$ tessera fixture siglip-tiny $T/m >/dev/null 2>&1; here=$PWD; cd $T
> tessera compile m -o p.ipuexe --tiles=64 -q -j1 >/dev/null || exit 9
> try() { name=$1; shift; "$@" >/dev/null 2>err; echo "$name: $? $(wc -l <err) $(head -c 200 err)"; ls e.npy* 2>/dev/null; true; }
$ npy good.npy '(42, 42, 3)' 21168; try good tessera run p.ipuexe --weights m good.npy -q
$ npy chw.npy '(3, 42, 42)' 21168; try chw tessera run p.ipuexe --weights m good.npy chw.npy -q -o e.npy
$ npy nan.npy '(42, 42, 3)' 21164; printf '\000\000\300\177' >>nan.npy; try nan tessera run p.ipuexe --weights m nan.npy -q -o e.npy
$ npy huge.npy '(42, 42, 3)' 21164; printf '\000\000\200\107' >>huge.npy; try huge tessera run p.ipuexe --weights m huge.npy -q -o e.npy
$ try agreement tessera verify p.ipuexe --weights m -q --min-agreement 1; : >none.txt; try labels tessera verify p.ipuexe --weights m -q --labels none.txt
$ try limit tessera run p.ipuexe --weights m '#1' -q --max-cycles 5000 -o e.npy
$ tessera run p.ipuexe --weights m '#1' '#2' --calls 2 -q -o e.npy >out; grep '^#' out; head -c 128 e.npy | tail -c 118 | tr -d '\n' | cut -c1-70
$ tessera run p.ipuexe --weights m '#2' -q -o f.npy >/dev/null; for row in 1 3; do cmp -n 576 -i $((128 + row * 576)):128 e.npy f.npy && echo same; done
$ cp -r m odd; sed -i 's/"image_size": 42/"image_size": 43/' odd/config.json; sed -i 's/: 42$/: 43/;s/: 42,/: 43,/' odd/preprocessor_config.json
> tessera compile odd -o odd.ipuexe --tiles 64 -q >/dev/null; rm e.npy; try 'no whole patches' tessera verify odd.ipuexe --weights odd $here/demo/photos/coffee.jpg -q --min-cosine 0.999
$ cp -r m bright; echo '{"rescale_factor":1e9,"image_std":[1e-9,1e-9,1e-9]}' >bright/preprocessor_config.json; try bright tessera run p.ipuexe --weights bright $here/demo/photos/coffee.jpg -q
$ cp -r m dangling; rm dangling/preprocessor_config.json; ln -s nowhere dangling/preprocessor_config.json; try dangling tessera info dangling
---
~good: 0 0 *
~chw: 2 1 tessera: chw.npy: expected values of shape \(42, 42, 3\), found 5292 values in 3 dimensions
~nan: 2 1 tessera: nan.npy: value 5291 is nan, expected -65504..65504 \(half precision\)
~huge: 2 1 tessera: huge.npy: value 5291 is 65536, expected -65504..65504 \(half precision\)
agreement: 2 1 tessera: m: is no classifier, so there are no classes for --min-agreement
labels: 2 1 tessera: m: is no classifier, so there are no classes for --labels
~limit: 3 1 tessera: call: no host barrier within 5000 simulated cycles \(--max-cycles\)
#1
#2
#1
#2
~\{'descr': '<f4', .*\(4, 144\).*
same
same
~no whole patches: 0 0 *
~bright: 2 1 .*coffee.jpg: value 0 is .*, expected -65504..65504 \(half precision\)
dangling: 2 1 tessera: dangling/preprocessor_config.json: cannot be opened: No such file or directory
