# tools/headers.sh finds a header that leans on what somebody included before it.
$ tools/headers.sh
$ mkdir -p "$T/src/base"
$ echo 'typedef int32_t Number;' > "$T/src/base/alone.h"
$ tools/headers.sh "$T/src"
--- exit 1
...
~.*src/base/alone.h: does not compile alone
