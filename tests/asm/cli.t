# Assemble, list, disassemble, assemble again. Words: isa/assembler.md 5, bundle rules 2.3.
$ printf '.supervisor\nnop\nsync 3\nand $m1, $m0, COUNT\nbr $lr\n.worker\nl: { nop ; fnop }\nbri l\n' >$T/k.s
$ tessera asm $T/k.s -o $T/k.bin --base 0x4c010 -D COUNT=61
$ od -A n -t x4 $T/k.bin
$ tessera disasm $T/k.bin --supervisor
$ tessera disasm $T/k.bin --plain
--- exit 0
 19e00000 41800003 4201803d 43a00000
 99e00000 9ad00000 40813008
0004c010: 19e00000           nop
0004c014: 41800003           sync 3
0004c018: 4201803d           and $m1, $m0, 61
0004c01c: 43a00000           br $m10
0004c020: 99e00000           .long 0x99e00000
0004c024: 9ad00000           .long 0x9ad00000
0004c028: 40813008           bri 0x4c020
.worker
.allow_invalid_operands
.allow_invalid_bundles
.allow_invalid_repeat
nop
.long 0x41800003
and $m1, $m0, 61
br $m10
{ nop ; fnop }
bri 0x4c020
