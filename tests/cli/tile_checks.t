# Checks that hardware does not have, and what nobody documented: docs/machine.md.
$ run() { tessera tile "$@" 2>&1 | sed "s#$T#T#"; echo "exit ${PIPESTATUS[0]}"; }
$ printf '.worker\nmain: setzi $m0, 0x58000\nget $m1, $WSR\nst: st32 $m1, $m0, $mzero, 0\nexitz $mzero\n' >$T/race.s
$ run $T/race.s --mode worker | tail -1; run $T/race.s --mode worker --check +race
$ printf '.worker\nmain: setzi $m0, main\nld32 $m1, $m0, $mzero, 0\nst32 $m1, $m0, $mzero, 0\nexitz $mzero\n' >$T/code.s
$ run $T/code.s --mode worker --check code | grep -v '^  \$m'
$ printf '.supervisor\nmain: setzi $m0, 32\nsetzi $m1, 7\nshl $m2, $m1, $m0\nsetzi $m3, 0x58000\nst32 $m2, $m3, $mzero, 0\nsync 7\n' >$T/shift.s
$ run $T/shift.s | grep -E 'SHIFT|exit'; run $T/shift.s --unknown assume --dump 0x58000,4 --entry main | grep -E 'assumed|0x58000|exit'
$ run $T/shift.s --unknown perhaps; run $T/shift.s --isa-flags $T/nowhere.h
# Line markers that name no line of the text.
$ printf '# 400000000 "%s/far.s"\n.worker\nmain: exitz $mzero\n' $T >$T/far.s; run $T/far.s --mode worker --annotate | tail -3
# A store into code that has not run yet.
$ printf '.worker\nmain: setzi $m0, next\nld32 $m1, $m0, $mzero, 0\nst32 $m1, $m0, $mzero, 0\nnext: exitz $mzero\n' >$T/early.s
$ run $T/early.s --mode worker | tail -1; run $T/early.s --mode worker --check +code | head -3
# Words that never run need no assumption.
$ printf '.worker\nmain: exitz $mzero\nadd $m0, $m14, 1\n' >$T/idle.s; run $T/idle.s --mode worker --unknown assume | tail -1
--- exit 0
exit 0
selected check: RACE: two contexts meet in a word, one of them writes it, and nothing orders them
  tile 0 (logical 0), worker 1, simulated cycle 25, pc 0x4c018, address 0x58000
  writes 0x58000, which worker 0 wrote
  the other access: worker 0, pc 0x4c018
  at 0x4c018 st+0x0: st32 $m1, $m0, $mzero, 0
  T/race.s:4: st: st32 $m1, $m0, $mzero, 0
  $m0=0x00058000 $m1=0x00000001
tessera: the simulated program faulted: RACE
exit 3
selected check: CODE_WRITE: a store into words that are code
  tile 0 (logical 0), worker 0, simulated cycle 24, pc 0x4c018, address 0x4c010
  stores to 0x4c010
  at 0x4c018 main+0x8: st32 $m1, $m0, $mzero, 0
  T/code.s:4: st32 $m1, $m0, $mzero, 0
tessera: the simulated program faulted: CODE_WRITE
exit 3
unknown: SHIFT_AMOUNT: shifts by 32 or more are undocumented
tessera: the simulated program faulted: SHIFT_AMOUNT
exit 3
undocumented, assumed as docs/machine.md says: SHIFT_AMOUNT
0x58000: 00000000
exit 0
tessera: option --unknown: expected fault or assume, found perhaps
exit 2
tessera: T/nowhere.h: cannot be opened: No such file or directory
exit 2
    0         6          0         42  (code without a source line)
  sum        11         28         42  simulated cycles
exit 0
exit 3
selected check: CODE_WRITE: a store into words that are code
  tile 0 (logical 0), worker 0, simulated cycle 24, pc 0x4c018, address 0x4c01c
  stores to 0x4c01c
exit 0
