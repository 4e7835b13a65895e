# The page of instruction forms says what the tree does: a new executor or test changes it, and `make bless` writes it again.
$ tools/isa-coverage.sh >$T/found && page=docs/isa-coverage.md; [ -z "$BLESS" ] || cp $T/found $page; diff $T/found $page && echo same
---
same
