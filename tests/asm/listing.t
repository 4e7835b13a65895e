# A listing shows every line with its address and words: a bundle at its first line, what a macro produced behind >, an
# included file (found beside the source) with its name, several texts one after another.
$ printf '.supervisor\n.include "zone.inc"\nsync ZONE\n.data\n.byte 1, 2, 3, 4, 5\n' >$T/k.s
$ printf '.equ ZONE, 3\n' >$T/zone.inc
$ printf '.macro two x\n nop\n setzi $m0, \\x\n.endm\n.worker // mode\n{ nop\n  fnop }\ntwo 7\n' >$T/l.s
$ cd $T && tessera asm k.s l.s --listing
---
k.s
                                 1  .supervisor
                                 2  .include "zone.inc"
zone.inc
                                 1  .equ ZONE, 3
k.s
0004c010: 41800003               3  sync ZONE
                                 4  .data
0004c014: 04030201 05            5  .byte 1, 2, 3, 4, 5
l.s
                                 1  .macro two x
                                 2   nop
                                 3   setzi $m0, \x
                                 4  .endm
                                 5  .worker // mode
0004c020: 99e00000 9ad00000      6  { nop
                                 7    fnop }
                                 8  two 7
0004c028: 19e00000               2>  nop
0004c02c: 19000007               3>  setzi $m0, 7
