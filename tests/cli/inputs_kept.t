# No output replaces a file that the command read: flag values, includes, headers of the C preprocessor.
$ cd $T; printf '.supervisor\n.globl s\ns: setzi $m0, 5\n br $m10\n' >s.s; printf 'TAMP_F16V4_E4_P0 0\n' >g
$ printf '.supervisor\n.include "v.inc"\n' >i.s; echo nop >v.inc; printf '.supervisor\n#include "v.h"\n' >c.S; echo nop >v.h
$ try() { tessera "$@" 2>&1; echo $?; }; cat g v.inc v.h >before
$ try asm s.s --isa-flags g -o g; try tile s.s --isa-flags g --dump 0x50000,8,file:g; try asm i.s -o v.inc; try asm c.S -o v.h
$ try tile i.s --dump 0x50000,8,file:v.inc; cat g v.inc v.h | cmp - before && echo kept
$ try asm s.s --base 0x4c011
---
tessera: g: is an input of this command; choose another output
2
tessera: g: is an input of this command; choose another output
2
tessera: v.inc: is an input of this command; choose another output
2
tessera: v.h: is an input of this command; choose another output
2
tessera: v.inc: is an input of this command; choose another output
2
kept
tessera: option --base: expected a multiple of 4
2
