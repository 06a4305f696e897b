#!/bin/sh
# Runs the commands of README.md's first screen, as printed, in a fresh clone of the last commit; of the tests, one suite.
#   tests/readme.sh FOLDER     from the top of the tree; FOLDER is of the caller
set -eu
tree=$(pwd)
cd "$1"
git -C "$tree" rev-parse --git-dir > /dev/null 2>&1 || { echo "not a clone: README's commands are not run"; exit 0; }
cp "$tree/README.md" .
awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } /^## / { exit } inside' README.md | sed "s|ADDRESS|'$(printf '%s' "$tree" | sed 's/[&|\\]/\\&/g')'|" > commands.sh
for command in 'git clone ' 'make demo ' 'make check ' 'build/bin/compare ' 'build/bin/gradcheck '; do
    grep -q "^$command" commands.sh || { echo "README's first screen lacks: $command" >&2; exit 1; }
done
env -i PATH="$PATH" HOME="$HOME" DEPENDENCIES=check SUITES=tape CC="${CC:-cc}" sh -e commands.sh > said 2>&1 || { tail -n 30 said >&2; exit 1; }
for written in demo/loss.png demo/accuracy.png demo/summary.csv; do
    [ -s "tapegrad/build/$written" ] || { echo "make demo writes no $written" >&2; exit 1; }
done
grep -q '^100%: Checks: ' said
