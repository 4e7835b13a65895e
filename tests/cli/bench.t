# `bench exchange`: the corpus by name, problems from files, forms of output, mistakes.
$ cd $T
$ cat >small.exchange <<'END'
> exchange row_bytes_max=65536 row_range=0x4c000..0x5c000
> phase
> for s < 4: transfer source=L(s) address=0x80000 words=64 to=L(s + 100)@0x90000
> phase
> transfer source=0 address=0x80000 words=8 to=2@0x90000
> END
$ tessera bench exchange --list | head -n 3
$ tessera bench exchange small.exchange --expand
$ tessera bench exchange small.exchange --bounds -q
$ tessera bench exchange small.exchange --markdown -q --width 32 | sed 's/ | [0-9.]* | [0-9.]* | [0-9.]* |$/ | s | s | s |/; /^  solved/d'
$ tessera bench exchange small.exchange --json -q -j1 | grep -c '"scheduled_horizon"'
---
all-to-all
base
delta
exchange row_bytes_max=65536 row_range=0x4c000..0x5c000
phase transfers=4
~transfer source=0 address=0x80000 words=64 to=\d+@0x90000
~transfer source=2 address=0x80000 words=64 to=\d+@0x90000
~transfer source=64 address=0x80000 words=64 to=\d+@0x90000
~transfer source=66 address=0x80000 words=64 to=\d+@0x90000
phase transfers=1
transfer source=0 address=0x80000 words=8 to=2@0x90000
                      trans-  recei- bound bound                      row B  rows solve  enc  chk
phase                   fers    vers    32    64 binds   horizon ratio   max   KiB     s    s    s
small/0                    4       4   132   132 send
small/1                    1       1    66    66 send
| phase | transfers | receivers | bound 32 | bound 64 | binds | horizon | ratio | largest row B | rows KiB | solve s | encode s | check s |
|---|---:|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|
~\| small/0 \| 4 \| 4 \| 132 \| 132 \| send \| \d+ \| [0-9.]+ \| \d+ \| \d+ \| s \| s \| s \|
~\| small/1 \| 1 \| 1 \| 66 \| 66 \| send \| \d+ \| [0-9.]+ \| \d+ \| \d+ \| s \| s \| s \|

~all: 2 phases, sum of horizons \d+ / sum of bounds 198 = [0-9.]+;
2
