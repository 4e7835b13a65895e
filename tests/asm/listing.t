# A listing shows addresses, words and source lines; an included file is found beside the source.
$ printf '.supervisor\n.include "zone.inc"\nsync ZONE\n.data\n.byte 1, 2, 3, 4, 5\n' >$T/k.s
$ printf '.equ ZONE, 3\n' >$T/zone.inc
$ tessera asm $T/k.s --listing
---
.text
0004c010: 41800003               3  sync ZONE
.data
0004c014: 04030201 05            5  .byte 1, 2, 3, 4, 5
