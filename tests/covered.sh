#!/bin/sh
# Names what has changed that `make check-all` tests and `make check` does not.
#   tests/covered.sh STAMP     from the top of the tree. The file STAMP is as old as the last check-all that passed; if there is none, what
#                              differs from the last commit has changed
set -u
stamp=$1
changed=""
covers() { # WHAT FILE-OR-FOLDER...
    what=$1
    shift
    if [ -e "$stamp" ]; then
        found=$(find "$@" -type f -newer "$stamp" 2> /dev/null | head -n 1)
    else
        found=$(git status --porcelain -- "$@" 2> /dev/null | head -n 1)
    fi
    [ -z "$found" ] || changed="$changed${changed:+, }$what"
}
covers exporters autograd/export examples/programs/emit.c tests/autograd/test_export.c
covers "kernels or optimisers" autograd/kernels optim
covers headers autograd/*.h nn/*.h nn/*/*.h nn/*/*/*.h
covers "building or installing" Makefile tools README.md docs/install.md tests/*.sh tests/build
[ -z "$changed" ] || echo "$changed changed: make check-all"
