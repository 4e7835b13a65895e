# The runner itself: what passes, what fails, and what it says last. It runs in a tree of its own.
$ mkdir -p "$T/src" "$T/tests/a" "$T/build/tests/a"
$ cp -r tools "$T/tools"
$ cd "$T"
$ printf '#!/bin/sh\nexit 0\n' > build/tests/a/test_good
$ printf '#!/bin/sh\necho "tests/a/test_bad.c:7: check failed: x"; exit 1\n' > build/tests/a/test_bad
$ printf '#!/bin/sh\nkill -SEGV $$\n' > build/tests/a/test_dies
$ chmod +x build/tests/a/*
$ touch tests/a/test_good.c tests/a/test_bad.c tests/a/test_dies.c
$ printf '$ printf "a\\nb1\\nc\\nd\\n"\na\n~b[0-9]\n...\nd\n' > tests/a/pattern.t
$ printf '$ echo here; exit 3\n--- exit 3\nhere\n' > tests/a/status.t
$ printf '$ cat <<E\n> two\n> lines\n> E\ntwo\nlines\n' > tests/a/continued.t
$ printf '$ echo "~x"\n\\~x\n' > tests/a/escaped.t
$ printf '$ echo one; echo two\none\nthree\n' > tests/a/wrong.t
$ printf '$ false\n$ echo unreached\nunreached\n' > tests/a/stops.t
$ printf '$ echo more; echo output\nmore\n' > tests/a/more.t
$ BUILD=build TEST_JOBS=1 tools/run-tests && echo passed || echo "status $?"
$ BUILD=build TEST_JOBS=1 tools/run-tests --bless tests/a/wrong.t tests/a/pattern.t
$ cat tests/a/wrong.t
$ BUILD=build tools/run-tests tests/a/wrong.t tests/a/test_good.c
---
FAIL tests/a/more.t: expected end of output (line 3); whole output: build/test-logs/a.more.t.log
~FAIL tests/a/stops.t: exit status 1, expected 0
FAIL tests/a/test_bad: exit status 1: tests/a/test_bad.c:7: check failed: x
FAIL tests/a/test_dies: exit status signal 11
FAIL tests/a/wrong.t: expected "three" (line 3); whole output: build/test-logs/a.wrong.t.log
5 passed, 5 failed
status 1
blessed tests/a/wrong.t
2 passed, 0 failed
$ echo one; echo two
--- exit 0
one
two
2 passed, 0 failed
