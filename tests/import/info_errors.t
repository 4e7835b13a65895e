# Bad usage and bad models: one line each, exit status 2.
$ tessera info || echo "exit $?"
$ tessera info --x || echo "exit $?"
$ tessera info a b || echo "exit $?"
$ tessera info $T/none || echo "exit $?"
$ tessera fixture siglip-tiny || echo "exit $?"
$ tessera fixture siglip-huge $T/x || echo "exit $?"
$ tessera fixture siglip-tiny $T/x --layers 0 || echo "exit $?"
$ tessera fixture siglip-tiny $T/x --seed=abc || echo "exit $?"
$ tessera fixture siglip-tiny $T/tiny -q
$ truncate -s -4 $T/tiny/model.safetensors
$ tessera info $T/tiny || echo "exit $?"
---
tessera: info needs a MODEL (see tessera info --help)
exit 2
tessera: unknown option --x (see tessera info --help)
exit 2
tessera: unexpected argument b (see tessera info --help)
exit 2
tessera: $T/none: cannot be opened: No such file or directory
exit 2
tessera: fixture needs a NAME and a DIR (see tessera fixture --help)
exit 2
tessera: unknown fixture "siglip-huge" (known: siglip-tiny, siglip-base-ish, siglip-so400m-14-384)
exit 2
~tessera: option --layers: expected an integer from 1 to 1000.*
exit 2
~tessera: option --seed: expected an integer from 0 .*
exit 2
tessera: $T/tiny/model.safetensors: the tensors cover 2410176 bytes, the file holds 2410172 behind the header
exit 2
