# tools/rooms.sh accepts the tree, and finds each of four planted faults in a copy of it.
$ tools/rooms.sh
$ fault() { rm -rf "$T/src"; cp -r src "$T/src"; }
$ verdict() { if tools/rooms.sh "$T/src"; then echo "accepted: $1"; else echo "refused: $1"; fi; }
$ fault
$ verdict copy
$ echo '#include "machine/machine.h"' > "$T/src/graph/planted.c"
$ verdict 'room that is not used'
$ fault
$ echo '#include "kernel/embedded.h"' > "$T/src/plan/planted.c"
$ verdict 'private header'
$ fault
$ sed -i 's/^ \* uses: -/ * uses: chip/' "$T/src/base/base.h"
$ verdict cycle
$ fault
$ sed -i '/uses:/d' "$T/src/chip/chip.h"
$ verdict 'no uses line'
$ fault
$ mkdir "$T/src/attic"
$ echo 'int x;' > "$T/src/attic/x.c"
$ verdict 'room without a door'
---
accepted: copy
src/graph/planted.c:1: room graph does not use machine ("machine/machine.h")
refused: room that is not used
src/plan/planted.c:1: "kernel/embedded.h" is private to kernel
refused: private header
~src: rooms form a cycle: (base chip|chip base) ?
refused: cycle
src/chip/chip.h: no uses: line
...
refused: no uses line
src/attic: no door attic.h
refused: room without a door
