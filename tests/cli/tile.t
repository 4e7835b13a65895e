# One kernel on one tile: 1 + 2 = 3 in halves; times as in tests/debug/test_explain.c, by hand from tile-timing.md 3.2.
$ run() { tessera tile "$@" 2>&1; echo "exit $?"; }
$ add="kernels/add_f16.s --words 0x54000,0x58000,0x5c000,0x60000,2 --set \$m0=0x54000"
$ run $add --words 0x58000,f16:1,f16:1,f16:1,f16:1 --words 0x5c000,f16:2,f16:2,f16:2,f16:2 --guard 8 --dump 0x5fff8,32,f16 --dump 0x60000,16,file:$T/out
$ od -A n -t x4 $T/out
$ run kernels/barrier.s --explain --set \$m0=0x54000
$ run kernels/barrier.s --explain --json --set \$m0=0x54000 | grep -v cause; run kernels/barrier.s --json | grep -A 1 stop
$ printf '.worker\nmain: setzi $m0, 0x58000\nget $m1, $WSR\nshl $m1, $m1, 2\nst32 $m1, $m0, $m1, 4\nexitz $mzero\n' >$T/w.s
$ run $T/w.s --mode worker --guard 16 --words 0x58000,0
# Workers begin at 11 (worker 5), 12 (worker 0) ... 16, one issue every six cycles; five issues: the last exit is at 40, its slot
# returns at 47, sync 2 takes 5. Breakpoints stop in the order of cycles.
$ printf 'break write:0x5801c\nbreak cycle:20\nc\nstep 2\nc\nregs 3\nmem 0x58010,16,u32\nmem 0\nc\nquit\n' | run $T/w.s --mode worker --step
$ run $T/w.s --mode worker --break main --dump 0x58000,4
# Several files, symbols from outside, values of several kinds; undefined values are not tracked.
$ printf '.supervisor\n.globl two\ntwo: ld32 $m1, $m0, $mzero, 0\nadd $m1, $m1, STEP\nbr $m9\n' >$T/two.s
$ printf '.supervisor\n.globl one\none: call $m9, two\nst32 $m1, $m0, $mzero, 1\nbr $m10\n' >$T/one.s
$ run $T/one.s $T/two.s -D STEP=-3 -D at=0x58000 --set '$m0=at' --words at-4,1,10,f16:-1 --dump at-4,12,u32 --max-cycles 60
$ run $T/two.s -D STEP=0 --check none --set '$m0=0x58000' --set '$m9=0x50000' --words 0x50000,0x41800007 --fill 0x60000,8,random32:5 --load $T/out@0x60000 --dump 0x60000,8,f16
# A fault names the symbol, the line and the values.
$ printf '.worker\nmain: setzi $m0, 0x58002\nload: ld32 $a0, $m0, $mzero, 1\nexitz $mzero\n' >$T/f.s
$ run $T/f.s --mode worker --trace --break cycle:1000000 | sed "s#$T#T#"
$ printf '.supervisor\nl: bri l\n' >$T/l.s; run $T/l.s --max-cycles 100 --step </dev/null; echo c | run $T/l.s --max-cycles 100 --step
--- exit 0
~\d+ simulated cycles, \d+ instructions, 0 of them AMP
...
0x5fff8:         -         -         -         -         3         3         3         3
0x60008:         3         3         3         3         -         -         -         -
~.*/out: 16 bytes of 0x60000, 0 of their words undefined
exit 0
 42004200 42004200 42004200 42004200
39 simulated cycles, 12 instructions, 0 of them AMP
worker 0: last launch 18 .. 18
worker 1: last launch 19 .. 19
worker 2: last launch 20 .. 20
worker 3: last launch 21 .. 21
worker 4: last launch 16 .. 16
worker 5: last launch 17 .. 17
simulated cycles               superv.  worker 0  worker 1  worker 2  worker 3  worker 4  worker 5
issue: integer                       1         0         0         0         0         0         0
issue: control                       2         0         0         0         0         0         0
issue: launch and sync               2         0         0         0         0         0         0
branch shadow                       10         0         0         0         0         0         0
sync shadow                          4         0         0         0         0         0         0
wait for a result                    7         0         0         0         0         0         0
sync: wait for the workers          13         0         0         0         0         0         0
run-all start and rotation           0         4         5         6         7         2         3
exit and slot return                 0         7         7         7         7         7         7
exited, others still run             0         3         2         1         0         5         4
not launched                         0        25        25        25        25        25        25
total                               39        39        39        39        39        39        39
0 issues of the supervisor fell into free slots while a worker ran

waits of the supervisor for results
   cycles  times  for   at                                  made at
        7      1  $m1   0x4c014 barrier+0x4                 0x4c010 barrier+0x0
exit 0
{
  "stop": "host sync",
  "simulated_cycles": 39,
  "instructions": 12,
  "amp_instructions": 0,
  "guard_words_changed": 0,
~  "workers": \[\{"start": 18, "end": 18\}, \{"start": 19, "end": 19\}, .*\],
}
exit 0
  "stop": "fault",
~  "simulated_cycles": \d+,
52 simulated cycles, 35 instructions, 0 of them AMP
...
guard changed: 0x58010..0x58014, first word 0x00000000, stored at 0x4c01c (main+0xc) in cycle 30 by worker 0
tessera: guard words changed: 1
exit 1
break cycle:20 before
     20 2 0x4c014 main+0x4  get $m1, 0x1
     20 2 0x4c014 main+0x4  get $m1, 0x1 -> $m1=0x00000002
     21 3 0x4c014 main+0x4  get $m1, 0x1 -> $m1=0x00000003
break write:0x5801c after
     33 3 0x4c01c main+0xc  st32 $m1, $m0, $m1, 4 -> [0x5801c]=0x0000000c
worker 3
  $m0  0x00058000  $m1  0x0000000c  $m2  undefined   $m3  undefined
  $m4  undefined   $m5  undefined   $m6  undefined   $m7  undefined
  $m8  undefined   $m9  undefined   $m10 undefined   $m11 undefined
  $a0  undefined   $a1  undefined   $a2  undefined   $a3  undefined
  $a4  undefined   $a5  undefined   $a6  undefined   $a7  undefined
0x58010:          0          4          8         12
16 bytes at 0x0: expected whole words inside 0x4c000..0xe8000
end: host sync
52 simulated cycles, 35 instructions, 0 of them AMP
...
exit 0
break main before
     11 5 0x4c010 main+0x0  setzi $m0, 0x58000
worker 5
...
0x58000:        -
exit 0
~\d+ simulated cycles, 8 instructions, 0 of them AMP
0x57ffc:          1         10          7
exit 0
~\d+ simulated cycles, 5 instructions, 0 of them AMP
0x60000:         3         3         3         3
exit 0
      0 s 0x4c020 launcher+0x0  setzi $m10, 0x4c010 -> $m10=0x0004c010
      1 s 0x4c024 launcher+0x4  setzi $m11, 0x4c000 -> $m11=0x0004c000
      9 s 0x4c028 launcher+0x8  runall $m10, $m11, 0 -> fault
     12 0 0x4c010 main+0x0  setzi $m0, 0x58002 -> $m0=0x00058002
     18 0 0x4c014 load+0x0  ld32 $a0, $m0, $mzero, 1 -> fault
no breakpoint was met
illegal: MISALIGNED: an access that is not aligned to its size
  tile 0 (logical 0), worker 0, simulated cycle 18, pc 0x4c014, address 0x58006
  4 bytes at 0x58006
  at 0x4c014 load+0x0: ld32 $a0, $m0, $mzero, 1
  T/f.s:3: load: ld32 $a0, $m0, $mzero, 1
  $m0=0x00058002 $a0=undefined
tessera: the simulated program faulted: MISALIGNED
exit 3
exit 0
end: cycle limit
tessera: no host sync within 100 simulated cycles (--max-cycles)
exit 3
