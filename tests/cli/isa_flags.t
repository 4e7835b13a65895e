# Values of flag symbols from a user's file: compiled, stored, shown, printed; bad files and packages are one line.
$ tessera fixture siglip-tiny $T/m >/dev/null 2>&1; here=$PWD; cd $T
> try() { "$@" >out 2>err; echo "$? $(cat err)"; ls p.ipuexe k.bin 2>/dev/null; rm -f p.ipuexe k.bin; }
> printf '/* a vendor */\n#ifndef T_H\n#define T_H\n' >v.h
> for p in 0 1 2 3; do echo "#define TAMP_F16V4_E4_P$p ($((40 + p)))" >>v.h; done
> printf '#define TAMP_NEW 1 // unknown here\n#define TROUND_ZERO 3\nTGINA_SET1_EVEN = 4,\n#endif\n' >>v.h
> printf '.worker\nf16v4hihov4amp $a0:1, $a2:3, $azeros, TAMP_F16V4_E4_P2\nf32v2gina $a0:1, $azeros, 4\n' >k.s
> tessera asm k.s -o k.bin --isa-flags v.h; od -A n -t x4 k.bin
> tessera disasm k.bin --isa-flags v.h; tessera disasm k.bin --plain
> tessera asm k.s -o k.bin; od -A n -t x4 k.bin
> tessera compile m -o m.ipuexe --tiles 64 -q --isa-flags v.h | head -1
> tessera inspect m.ipuexe | grep flags; tessera inspect m.ipuexe --isa-flags >t.txt; grep -E 'F16V4_E4|GINA|LOCAL' t.txt
> tessera inspect m.ipuexe --json | grep -E 'flags_|"TAMP_F16V4_E4_P1|SET1_ODD'
> try tessera asm k.s -o k.bin --isa-flags t.txt
> echo hello >bad.h; try tessera compile m -o p.ipuexe --tiles 64 -q --isa-flags bad.h
> echo 'TSTACC_P0 1' >bad.h; try tessera asm k.s -o k.bin --isa-flags bad.h
> echo 'TSTACC_P0 300' >bad.h; try tessera disasm t.txt --isa-flags bad.h
> try tessera compile m -o p.ipuexe --tiles 64 -q --isa-flags none.h
> cp v.h keep.h; try tessera compile m -o v.h --tiles 64 -q --isa-flags v.h; cmp v.h keep.h
> capnp decode $here/src/package/tessera.capnp Application <m.ipuexe >text || exit 8
> edit() { perl -0pe "$1" text | capnp encode $here/src/package/tessera.capnp Application >edited.ipuexe; try tessera inspect edited.ipuexe --isa-flags; }
> edit 's/(name = "TAMP_F16V4_E4_P1",\s*value = )41/${1}43/'
> edit 's/(name = "TAMP_F16V4_E4_P1",\s*value = )41/${1}64/'
> edit 's/(name = "TEXCH_SYNCZONE_LOCAL",\s*value = )2/${1}8/'
> edit 's/"TAMP_F16V4_E4_P1"/"TAMP_F16V4_E4_P0"/'
> edit 's/"TAMP_F16V4_E4_P1"/"TAMP_UN\\x1b"/'
> edit 's/isaFlagsVerified = false/isaFlagsVerified = true/'
--- exit 0
v.h: 1 unknown symbol ignored, first TAMP_NEW
 5be0276a 59e04004
v.h: 1 unknown symbol ignored, first TAMP_NEW
0004c010: 5be0276a           f16v4hihov4amp $a0:1, $a2:3, $azeros, TAMP_F16V4_E4_P2
0004c014: 59e04004           f32v2gina $a0:1, $azeros, TGINA_SET1_EVEN
.worker
.allow_invalid_operands
.allow_invalid_bundles
.allow_invalid_repeat
f16v4hihov4amp $a0:1, $a2:3, $azeros, 42
f32v2gina $a0:1, $azeros, 4
 5be02742 59e04004
v.h: 1 unknown symbol ignored, first TAMP_NEW
m.ipuexe
~isa flags      \d+ documented, \d+ unverified, 5 from v\.h
TAMP_F16V4_E4_P0                   40 // from v.h
TAMP_F16V4_E4_P1                   41 // from v.h
TAMP_F16V4_E4_P2                   42 // from v.h
TAMP_F16V4_E4_P3                   43 // from v.h
TGINA_SET0_EVEN                     0 // documented
TGINA_SET0_ODD                      1 // documented
TGINA_SET1_EVEN                     4 // from v.h
TGINA_SET1_ODD                      3 // unverified
TEXCH_SYNCZONE_LOCAL                2 // documented
 "isa_flags_verified": false, "isa_flags_source": "v.h", "isa_flags": [
  {"name": "TAMP_F16V4_E4_P1", "value": 41, "source": "file"},
  {"name": "TGINA_SET1_ODD", "value": 3, "source": "unverified"},
0 
k.bin
2 tessera: bad.h:1: expected NAME VALUE, found "hello"
2 tessera: bad.h: TSTACC_P0 and TSTACC_P1 (ours: the file does not name it) have the same value 1
2 tessera: bad.h:1: expected a number of 8 bits as value of TSTACC_P0, found "300"
2 tessera: none.h: cannot be opened: No such file or directory
2 tessera: v.h: is an input of this command; choose another output
2 tessera: edited.ipuexe: package: isa flags: TAMP_F16V4_E4_P1 and TAMP_F16V4_E4_P3 have the same value 43
2 tessera: edited.ipuexe: package: isa flags: TAMP_F16V4_E4_P1 = 64, expected a value of 6 bits
2 tessera: edited.ipuexe: package: isa flags: TEXCH_SYNCZONE_LOCAL is documented as 2, not 8
2 tessera: edited.ipuexe: isa flag TAMP_F16V4_E4_P0 has two values
2 tessera: edited.ipuexe: isa flag "TAMP_UN\x1b" is unknown in this version
2 tessera: edited.ipuexe: isa flags are said to be verified, their values are not
