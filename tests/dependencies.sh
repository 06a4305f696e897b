#!/bin/sh
# Which packages are asked for, and by whom: on a system that has no other libraries than OpenBLAS, where a package manager writes
# down that it was called.
#   tests/dependencies.sh     from the top of the tree
set -eu
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
fail() { echo "dependencies: $1" >&2; exit 1; }

mkdir "$work/bin"
for manager in apt-get sudo; do
    printf '#!/bin/sh\necho "$@" >> "%s/called"\nexit 1\n' "$work" > "$work/bin/$manager"
done
printf '#!/bin/sh\nexit 1\n' > "$work/bin/pkg-config" # knows no library
printf '#!/bin/sh\ngrep -q cblas\n' > "$work/bin/compiler" # finds no header but one
chmod +x "$work"/bin/*
PATH=$work/bin:$PATH
export PATH
unset DEPENDENCIES DESTDIR || true

CC=compiler .ci/dependencies install lib || fail "the library asks for more than OpenBLAS"
[ ! -e "$work/called" ]

! CC=compiler .ci/dependencies check all 2> "$work/missing" || fail "all is said to be there"
for package in check zlib1g-dev libcsv-dev libjansson-dev libsmartcols-dev; do
    grep -q " $package\$" "$work/missing" || fail "$package is not missed"
done
! grep -q 'openblas\|mpfr' "$work/missing" || fail "too much is missed"
[ ! -e "$work/called" ]

! CC=compiler .ci/dependencies install long > /dev/null 2>&1
grep -q 'update\|install' "$work/called" || fail "the package manager is not called"
rm "$work/called"

# Nothing at all is found here: `make lib` misses OpenBLAS alone, `make install` says so and calls nobody.
for goal in "lib DEPENDENCIES=check" install "lib install"; do
    ! MAKEFLAGS='' make $goal CC=false BUILD="$work/build" PREFIX="$work/prefix" > "$work/missing" 2>&1 || fail "make $goal goes on"
    [ "$(grep -c '^    [a-z]' "$work/missing")" = 1 ] && grep -q '^    libopenblas-dev$' "$work/missing" || fail "make $goal: $(cat "$work/missing")"
    [ ! -e "$work/called" ] || fail "make $goal calls the package manager"
    [ ! -e "$work/prefix" ] || fail "make $goal installs something"
done
