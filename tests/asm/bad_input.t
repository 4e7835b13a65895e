# Every mistake is one line that names file, line and column, with the line and a caret; nothing is written.
$ printf '.worker\n  add $m0, $m1, 70000\n.include "more.inc"\n' >$T/k.s
$ printf '.macro twice x\n frob \\x\n.endm\n\ttwice 1\n' >$T/more.inc
$ tessera asm $T/k.s -o $T/k.bin; echo "exit $?"; ls $T
$ tessera asm; echo "exit $?"
$ tessera asm --frobnicate $T/k.s; echo "exit $?"
$ tessera asm $T/k.s -D 7; echo "exit $?"
$ printf '.globl f, g\n.long f, g\n.set h, 1\n' >$T/a.s; printf '.globl f\nf:\n' >$T/b.s
$ tessera asm $T/a.s $T/b.s $T/b.s -o $T/x.bin; echo "exit $?"
$ tessera asm $T/a.s $T/b.s -o $T/x.elf --entry h; echo "exit $?"
$ tessera asm $T/a.s $T/b.s --gc-sections; echo "exit $?"
$ tessera asm -c $T/a.s $T/b.s; echo "exit $?"
$ tessera asm -c $T/a.s --map; echo "exit $?"
$ tessera asm $T/b.s -o $T/b.s; echo "exit $?"
$ ls $T
$ tessera disasm $T/none.bin 2>/dev/null; echo "exit $?"
$ tessera disasm --base 2 $T/k.s; echo "exit $?"
--- exit 0
tessera: $T/k.s:2:17: operand 3 of add is 70000, expected -32768..32767
      add $m0, $m1, 70000
                    ^
tessera: more.inc:2:2: expected an instruction, directive or macro, not 'frob'
     frob 1
     ^
    in macro twice, from more.inc:4
    in file more.inc, from $T/k.s:3
exit 2
k.s
more.inc
tessera: asm: expected a source file (see tessera asm --help)
exit 2
tessera: unknown option --frobnicate (see tessera asm --help)
exit 2
tessera: -D: expected the name of a symbol, not '7'
exit 2
tessera: $T/b.s: global symbol f is defined twice, first in $T/b.s
tessera: $T/a.s:2:1: g is undefined; expected a label here or a global of another text
exit 2
tessera: entry h: expected a global symbol
exit 2
tessera: option --gc-sections: expected --entry SYMBOL
exit 2
tessera: option -c: expected one source file
exit 2
tessera: option -c: an object has no addresses; expected no --entry, --gc-sections, --listing or --map
exit 2
tessera: $T/b.s: is an input of this command; choose another output
exit 2
a.s
b.s
k.s
more.inc
exit 2
tessera: option --base: expected a multiple of 4
exit 2
