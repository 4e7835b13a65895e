# `bench exchange`: refusals in every form, names that a terminal must not see, progress of several problems.
$ cd $T
$ printf 'exchange row_bytes_max=65536 row_range=0x4c000..0x5c000\nphase\ntransfer source=0 address=0x4c000 words=8 to=2@0x90000\nphase\n' >rows
$ printf 'exchange row_bytes_max=65536 row_range=0x4c000..0x5c000\nphase\n' >"$(printf 'a\033\377')"
$ tessera bench exchange rows -q; echo $?
$ tessera bench exchange rows -q --markdown | tail -n +3
$ tessera bench exchange rows -q --json | grep -o '"refusal":"[^"]*"'
$ tessera bench exchange rows "$(printf 'a\033\377')" --bounds 2>&1
---
                      trans-  recei- bound bound                      row B  rows solve  enc  chk
phase                   fers    vers    32    64 binds   horizon ratio   max   KiB     s    s    s
rows/0                     1       1     0     0 -       refused
  X10: transfer 0 from tile L0 (P0), 0x4c000, 8 words: touches an element of the rows
rows/1                     0       0     0     0 -       refused
all: 0 phases, sum of horizons 0 / sum of bounds 0 = 0.000;
  solved in 0.00 s (0.00 s of it encoding), checked in 0.00 s; 2 refused
2
| rows/0 | 1 | 1 | 0 | 0 | - | refused | | | | | | |
| rows/1 | 0 | 0 | 0 | 0 | - | refused | | | | | | |

rows/0: X10: transfer 0 from tile L0 (P0), 0x4c000, 8 words: touches an element of the rows
all: 0 phases, sum of horizons 0 / sum of bounds 0 = 0.000;
  solved in 0.00 s (0.00 s of it encoding), checked in 0.00 s; 2 refused
"refusal":"X10: transfer 0 from tile L0 (P0), 0x4c000, 8 words: touches an element of the rows"
1/2 rows: bounds
2/2 a\x1b\xff: bounds
                      trans-  recei- bound bound                      row B  rows solve  enc  chk
phase                   fers    vers    32    64 binds   horizon ratio   max   KiB     s    s    s
rows/0                     1       1    66    66 send
rows/1                     0       0     0     0 -
a\x1b\xff                  0       0     0     0 -
