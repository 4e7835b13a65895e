#!/bin/sh
# Prints docs/isa-coverage.md as this tree would have it: runs the tests of tests/machine, which note the forms that they execute,
# and joins that with the instruction table. After `make tests`. To renew the page: tools/isa-coverage.sh >docs/isa-coverage.md
set -eu
build=${BUILD:-build}
forms=$(mktemp)
trap 'rm -f "$forms"' EXIT

for source in tests/machine/test_*.c; do
    program=$build/${source%.c}
    ISA_FORMS_FILE=$forms "$program" >/dev/null 2>&1 || { echo "$program fails: run it alone" >&2; exit 1; }
done
"$build/tools/isa_coverage" "$forms"
