# A mistake is one line that names file, line and column; nothing is written.
$ printf '.worker\n  add $m0, $m1, 70000\n' >$T/k.s
$ tessera asm $T/k.s -o $T/k.bin; echo "exit $?"; ls $T
$ tessera asm; echo "exit $?"
$ tessera asm --frobnicate $T/k.s; echo "exit $?"
$ tessera asm $T/k.s -D 7; echo "exit $?"
$ tessera disasm $T/none.bin 2>/dev/null; echo "exit $?"
$ tessera disasm --base 2 $T/k.s; echo "exit $?"
--- exit 0
tessera: $T/k.s:2:17: operand 3 of add is 70000, expected -32768..32767
exit 2
k.s
tessera: asm: expected a source file (see tessera asm --help)
exit 2
tessera: unknown option --frobnicate (see tessera asm --help)
exit 2
tessera: -D: expected the name of a symbol, not '7'
exit 2
exit 2
tessera: option --base: expected a multiple of 4
exit 2
