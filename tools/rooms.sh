#!/bin/sh
# Checks who includes whom (docs/reference/style.md 2): a file of room R may include R's own headers and
# the rooms on the `uses:` line of src/R/R.h; of a room outside the vocabulary only the door; no cycles.
# Usage: tools/rooms.sh [source directory]
set -eu
cd "${1:-src}"
vocabulary=" base chip isa tensor layout "

edges=$(mktemp) && problems=$(mktemp)
trap 'rm -f "$edges" "$problems"' EXIT

for door in */; do
    room=${door%/}
    [ -n "$(find "$room" -name '*.[ch]' -o -name '*.cpp')" ] || continue
    [ -f "$room/$room.h" ] || { echo "src/$room: no door $room.h" >>"$problems"; continue; }
    uses=$(sed -n 's/^[ \/]*\*.*uses: *//p' "$room/$room.h" | head -n 1)
    [ -n "$uses" ] || echo "src/$room/$room.h: no uses: line" >>"$problems"
    for used in $uses; do
        case $used in -|any) ;; *) echo "$room $used" >>"$edges" ;; esac
    done
    grep -n '^ *# *include *"' "$room"/*.[ch] "$room"/*.cpp /dev/null 2>/dev/null |
    sed 's/^\([^:]*:[0-9]*\):[^"]*"\([^"]*\)".*/\1 \2/' |
    while read -r where header; do
        other=${header%%/*}
        case $header in */*) ;; *) continue ;; esac
        [ "$other" != "$room" ] || continue
        [ -d "$other" ] || { echo "src/$where: \"$header\" is no header of a room"; continue; }
        case " $uses " in
        *" $other "* | *" any "*) ;;
        *) echo "src/$where: room $room does not use $other (\"$header\")" ;;
        esac
        case $vocabulary in *" $other "*) continue ;; esac
        [ "$header" = "$other/$other.h" ] || echo "src/$where: \"$header\" is private to $other"
    done >>"$problems"
done
if ! loop=$(tsort "$edges" 2>&1 >/dev/null); then
    names=$(echo "$loop" | sed -n 's/^tsort: \([a-z]*\)$/\1/p' | tr '\n' ' ')
    echo "src: rooms form a cycle: $names" >>"$problems"
fi
[ -s "$problems" ] || exit 0
cat "$problems" >&2
exit 1
