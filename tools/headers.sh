#!/bin/sh
# Checks that every header compiles alone, as the first and only include of a file.
# Usage: tools/headers.sh [source directory]
set -eu
source=${1:-src}
status=0
for header in "$source"/*/*.h; do
    echo "#include \"${header#"$source"/}\"" |
        gcc -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only -x c -I"$source" - || {
        echo "$header: does not compile alone" >&2
        status=1
    }
done
exit $status
