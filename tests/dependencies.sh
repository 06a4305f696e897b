#!/bin/sh
# Tests which packages make asks for, and for which targets. It simulates a system without libraries, whose package manager only
# records its calls.
#   tests/dependencies.sh     from the top of the tree
set -eu
work=$(mktemp -d "${TG_BUILD:-build}/dependencies-XXXXXX") # not in TMPDIR: make takes no blank in BUILD
trap 'rm -r "$work"' EXIT
fail() { echo "dependencies: $1" >&2; exit 1; }

mkdir "$work/bin"
for manager in apt-get sudo; do
    printf '#!/bin/sh\necho "$@" >> "%s/called"\nexit 1\n' "$work" > "$work/bin/$manager"
done
printf '#!/bin/sh\nexit 1\n' > "$work/bin/pkg-config" # knows no library
printf '#!/bin/sh\nexit 1\n' > "$work/bin/compiler" # finds no header
chmod +x "$work"/bin/*
PATH=$work/bin:$PATH
export PATH
unset DEPENDENCIES DESTDIR BLAS || true

CC=compiler tools/dependencies install lib || fail "the library asks for more than a compiler"
[ ! -e "$work/called" ]

# missed LEVEL PACKAGE...: that level misses them, each with a reason.
missed() {
    level=$1
    shift
    ! CC=compiler tools/dependencies check "$level" 2> "$work/missing" || fail "all is said to be there for $level"
    for package in "$@"; do
        grep -q "^    $package  *[a-z]" "$work/missing" || fail "$package is not missed for $level"
    done
}
missed programs zlib1g-dev libjansson-dev
! grep -q 'mpfr\|openblas\|^    check ' "$work/missing" || fail "programs miss too much"
missed tests libopenblas-dev check zlib1g-dev libmpfr-dev
! grep -q clang "$work/missing" || fail "tests miss too much"
! BLAS=none CC=compiler tools/dependencies check tests 2> "$work/missing" || fail "all is said to be there without OpenBLAS"
! grep -q openblas "$work/missing" || fail "OpenBLAS is missed by BLAS=none"
[ ! -e "$work/called" ]

! CC=compiler tools/dependencies install long > "$work/said" 2>&1
grep -q '^    libmpfr-dev  *[a-z]' "$work/said" || fail "what is installed is not named first"
grep -q 'update\|install' "$work/called" || fail "the package manager is not called"
rm "$work/called"

# No package is found here. `make lib` asks for the compiler only; `make install-library` reports it missing and installs nothing.
for goal in "lib DEPENDENCIES=check" install-library "lib install-library"; do
    ! MAKEFLAGS='' make $goal CC=no-compiler BUILD="$work/build" PREFIX="$work/prefix" > "$work/missing" 2>&1 || fail "make $goal goes on"
    [ "$(grep -c '^    [a-z]' "$work/missing")" = 1 ] && grep -q '^    build-essential ' "$work/missing" || fail "make $goal: $(cat "$work/missing")"
    [ ! -e "$work/called" ] || fail "make $goal calls the package manager"
    [ ! -e "$work/prefix" ] || fail "make $goal installs something"
done

# Unknown values of an option are refused.
for option in DEPENDENCIES BLAS AMALGAMATION; do
    ! MAKEFLAGS='' make -n lib $option=nonsense BUILD="$work/build" > /dev/null 2> "$work/said" || fail "$option=nonsense is taken"
    grep -q "$option is 'nonsense', and can be one of: " "$work/said" || fail "$option=nonsense: $(cat "$work/said")"
done

# A 32-bit compiler is refused, with one line.
if cc -m32 -E -x c /dev/null > /dev/null 2>&1; then
    ! MAKEFLAGS='' make -n lib CFLAGS=-m32 BUILD="$work/build" > /dev/null 2> "$work/said" || fail "-m32 is taken"
    grep -q 'needs pointers of 64 bits' "$work/said" && [ "$(wc -l < "$work/said")" = 1 ] || fail "-m32: $(cat "$work/said")"
fi

# The page needs emcc, and says so before anything is compiled.
! MAKEFLAGS='' EMCC=no-emcc make -n playground DEPENDENCIES=skip BUILD="$work/build" > "$work/said" 2>&1 || fail "make playground goes without emcc"
grep -q 'needs emcc: apt-get install' "$work/said" && ! grep -q ' -c -o ' "$work/said" || fail "playground: $(cat "$work/said")"
