# `bench`: one line on standard error and exit 2 for mistakes; exit 1 when rows do not fit.
$ cd $T
$ printf 'exchange row_bytes_max=16 row_range=0x4c000..0x5c000\nphase\nfor s < 4: transfer source=L(s) address=0x80000 words=64 to=L(s + 100)@0x90000\n' >tight
$ printf 'exchange row_bytes_max=16 row_range=0x4c000..0x5c000\nphase\ntransfer source=1 address=0x80000 bytes=6 to=2@0x90000\n' >bad
$ for args in "" "soup" "machine" "exchange soup" "exchange bad" "exchange --width 16" "exchange --expand" "exchange tight --expand --json" "exchange --list tight" "exchange --bounds --compact" "exchange relay.exchange" "exchange tight soup" "exchange --json --markdown" "exchange -j 0" "exchange tight -q"; do
>   tessera bench $args >out 2>err; code=$?
>   echo "$args: $code $(wc -l <err) $(cat err) $(grep -o 'over by.*bytes' out)"
> done
$ tessera bench --help | head -n 1
$ tessera bench --help | grep -o "^  [a-z]* "
$ tessera bench exchange --help | head -n 1
---
~: 2 1 tessera: bench: expected exchange or place, found nothing \(see tessera bench --help\)\s*
~soup: 2 1 tessera: bench: expected exchange or place, found soup \(see tessera bench --help\)\s*
~machine: 2 1 tessera: bench machine is not in this version; expected exchange or place\s*
~exchange soup: 2 1 tessera: soup: .*
~exchange bad: 2 1 tessera: bad: line 3: X14: expected whole words \(a multiple of 4 bytes\), found 6 bytes.*
~exchange --width 16: 2 1 tessera: option --width: expected auto, 32 or 64, found 16\s*
~exchange --expand: 2 1 tessera: option --expand: expected one problem, found 0\s*
exchange tight --expand --json: 2 1 tessera: options --expand and --json exclude each other 
exchange --list tight: 2 1 tessera: option --list: expected no problem, found tight 
exchange --bounds --compact: 2 1 tessera: options --bounds and --compact exclude each other 
exchange relay.exchange: 2 1 tessera: relay.exchange: no file, and no problem of the corpus (--list) 
exchange tight soup: 2 1 tessera: soup: no file, and no problem of the corpus (--list) 
~exchange --json --markdown: 2 1 tessera: options --json and --markdown exclude each other\s*
~exchange -j 0: 2 1 tessera: option -j: expected an integer from 1 to 1024, found 0\s*
~exchange tight -q: 1 0  over by \d+ bytes
usage: tessera bench KIND [PROBLEM...] [OPTIONS]
  exchange 
  place 
~usage: tessera bench exchange .*
