# C preprocessor input: .S by itself, other names with --cpp; mistakes name the original file and line; -I for both kinds of
# inclusion; a missing cpp is one line.
$ mkdir $T/inc; printf '#define ZONE 3\n#define BAD frob\n' >$T/inc/zone.h; printf 'nop\n' >$T/inc/nop.inc
$ printf '#include "zone.h"\n/* a\ncomment */\n.supervisor\n#ifdef TWICE\nsync ZONE\n#endif\nsync ZONE\n.include "nop.inc"\n' >$T/k.S
$ cd $T && tessera asm k.S -I inc -D TWICE -o k.bin && od -A n -t x4 k.bin
$ cp k.S k.s; tessera asm --cpp k.s -Iinc -o k2.bin && od -A n -t x4 k2.bin
$ printf 'BAD\n' >>k.S; tessera asm k.S -I inc -o k3.bin; echo "exit $?"
$ tessera asm k.s -I inc -o k3.bin; echo "exit $?"
$ PATH=$T/none:$(dirname $(command -v tessera)) tessera asm k.S -o k3.bin; echo "exit $?"
$ printf '#error no\n' >k.S; tessera asm k.S -o k3.bin 2>err; echo "exit $?"; tail -n 1 err
$ ls
---
 41800003 41800003 19e00000
 41800003 19e00000
tessera: k.S:10:1: expected an instruction, directive or macro, not 'frob'
    frob
    ^
exit 2
tessera: k.s:1:1: expected text without preprocessor lines; use .if, .set, .include, or run the C preprocessor (--cpp)
exit 2
tessera: k.S: cannot run cpp; expected the C preprocessor in PATH
exit 2
exit 2
tessera: k.S: cpp failed
err
inc
k.S
k.bin
k.s
k2.bin
