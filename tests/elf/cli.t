# Objects and programs by another witness, readelf: class, machine 248, RELA numbers of isa/assembler.md 3, symbols; linking
# drops what the entry does not reach. Words: setzi $m0 0x190ddddd, call $m10 0x18a0.... | address / 4.
$ printf '#define ADD(r, v) add r, r, v\n.supervisor\n.globl main\n.type main, @function\n.section .text.main, "ax"\nmain: ADD($m0, N)\ncall $lr, helper\nsetzi $m1, .Lt\n.size main, .-main\n.section .rodata\n.Lt: .long main\n' >$T/a.S
$ printf '.supervisor\n.globl helper, spare\nhelper: br $lr\n.section .text.spare\nspare: bri nowhere\n' >$T/b.s
$ cd $T && tessera asm -c a.S -D N=3 && tessera asm -c b.s
$ readelf -h a.o | grep -E 'Magic|Class|Data|Type|Machine'
$ readelf -r a.o | grep -E '^[0-9a-f]{8}'
$ readelf -s a.o | grep -E 'main|helper'
$ tessera asm a.o b.o -o p.elf --entry main --gc-sections --map
$ readelf -hl p.elf | grep -E 'Type: |Entry|LOAD'
$ readelf -x .text.main p.elf | grep 0x
$ tessera disasm p.elf --supervisor
$ tessera disasm a.o --supervisor --plain >again.s && tessera asm -c again.s && readelf -r again.o | grep -c ' main\| helper\| .Lsym\| .rodata'
$ printf broken | dd of=a.o bs=1 seek=400 conv=notrunc 2>/dev/null; truncate -s 450 a.o
$ tessera asm a.o; echo "exit $?"
$ tessera asm p.elf; echo "exit $?"
$ tessera asm a.S b.s -o q.elf --base 0x90000 --entry main --gc-sections -D N=3; echo "exit $?"; ls
---
  Magic:   7f 45 4c 46 01 01 01 ff 00 00 00 00 00 00 00 00 
  Class:                             ELF32
  Data:                              2's complement, little endian
  Type:                              REL (Relocatable file)
~  Machine: .*
~00000004  0000..08 unrecognized: 8       00000000   helper \+ 0
~00000008  0000..03 unrecognized: 3       00000000   .rodata \+ 0
~00000000  0000..04 unrecognized: 4       00000000   main \+ 0
~     .: 00000000     0 SECTION LOCAL  DEFAULT    2 .text.main
~     .: 00000000    12 FUNC    GLOBAL DEFAULT    2 main
~     .: 00000000     0 NOTYPE  GLOBAL DEFAULT  UND helper
0004c010      12  .text.main  a.o
0004c010      12    main
0004c01c       4  .rodata  a.o
0004c020       4  .text  b.o
0004c020       0    helper
dropped        4  .text.spare  b.o
  Type:                              EXEC (Executable file)
  Entry point address:               0x4c010
~  LOAD           0x.* 0x0004c010 0x0004c010 0x0000c 0x0000c R E 0x4
~  LOAD           0x.* 0x0004c01c 0x0004c01c 0x00004 0x00004 R   0x4
~  LOAD           0x.* 0x0004c020 0x0004c020 0x00004 0x00004 R E 0x4
~  0x0004c010 03000022 0830a118 1cc01419 .*
.section .text.main, "ax", @progbits
.balign 4
main:
0004c010: 22000003           add $m0, $m0, 3
0004c014: 18a13008           call $m10, 0x4c020
0004c018: 1914c01c           setzi $m1, 0x4c01c
.section .rodata, "a", @progbits
.balign 4
0004c01c: 0004c010           .long 0x0004c010
.section .text, "ax", @progbits
.balign 4
helper:
0004c020: 43a00000           br $m10
3
~tessera: a.o: .*
exit 2
tessera: p.elf: expected an object, not a program
exit 2
tessera: q.elf: a.S: section .text.main is 0x90000..0x9000c, expected code within 0x4c000..0x80000
exit 2
a.S
a.o
again.o
again.s
b.o
b.s
p.elf
