#!/bin/sh
# The library and its tests with musl as the C library, without OpenBLAS; programs need argp, which musl lacks.
#   tests/musl.sh FOLDER [SUITE...]     from the top of the tree; needs musl-gcc and, for libcheck's sources, apt-get
# FOLDER/check keeps libcheck, made for musl. Suites are those of the library that use nothing else, or the named ones.
set -eu
command -v musl-gcc > /dev/null || { echo "there is no musl-gcc"; exit 77; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift

# Debian's source package, whether or not this machine lists sources.
get_check() (
    mkdir -p "$folder/lists/partial" "$folder/parts"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
        [ -f "$file" ] || continue
        sed 's/^Types:.*/Types: deb-src/; s/^deb /deb-src /' "$file" > "$folder/parts/${file##*/}"
    done
    set -- -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$folder/parts" -o Dir::State::Lists="$folder/lists"
    cd "$folder"
    apt-get "$@" update && apt-get "$@" source --download-only check && mkdir -p source &&
        tar xf check_*.orig.tar.gz -C source --strip-components 1
)
[ -f "$folder/check/lib/libcheck.a" ] || {
    get_check > "$folder/check.log" 2>&1 || { echo "libcheck's sources cannot be had: $folder/check.log"; exit 77; }
    (cd "$folder/source" && CC=musl-gcc ./configure --disable-subunit --disable-shared --prefix="$folder/check" &&
        make -C lib && make -C src install && cp check_stdint.h "$folder/check/include") > "$folder/check.log" 2>&1
}

make -s amalgamation "$folder/build/include/tapegrad.h" BUILD="$folder/build" DEPENDENCIES=skip
more='include.*(examples/|exported|csv_tables|run_|zlib)'
# All that need only the library. Not `locale`, as musl writes points in every locale.
suites=${*:-$(grep -LE "$more" tests/autograd/test_*.c tests/kernels/test_*.c tests/nn/test_*.c \
    tests/optim/test_*.c tests/fit/test_*.c | sed 's,.*/test_\(.*\).c,\1,' | grep -vx locale)}
sources=$(for suite in $suites; do echo tests/*/test_"$suite".c; done)
support=$(grep -LE "$more" tests/support/*.c)
others=$(ls tests/accuracy/*.c tests/golden/*.c | grep -v 'main\|curves\|report\|golden/samples.c')

mkdir -p "$folder/include/tests"
for suite in $suites; do echo "TG_SUITE($suite)"; done > "$folder/include/tests/suites.def"
wrapped=$(sed -n 's/^$(OUT).*tests: LINK.*= //p' Makefile)
echo "compiling: $suites"
[ "$folder/tapegrad.o" -nt "$folder/build/amalgamation/tapegrad.c" ] ||
    musl-gcc -O3 -ffp-contract=off -fopenmp-simd -fno-math-errno -fno-trapping-math -DTG_NO_BLAS -c -o "$folder/tapegrad.o" \
        "$folder/build/amalgamation/tapegrad.c"
musl-gcc -std=c11 -D_GNU_SOURCE -O1 -fopenmp-simd $wrapped -I "$folder/include" -I . -I "$folder/build/include" -I "$folder/check/include" \
    -o "$folder/tests" tests/main.c $sources $support $others "$folder/tapegrad.o" "$folder/check/lib/libcheck.a" -lm
CK_TIMEOUT_MULTIPLIER=${CK_TIMEOUT_MULTIPLIER:-10} nice "$folder/tests"
