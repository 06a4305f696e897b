#!/bin/sh
# The library, as one file without OpenBLAS, for other systems and processors: compiled and linked with a program, and its tests and
# fingerprints where they can run here, natively or under Wine or qemu-user. docs/install.md has the results.
#   tests/elsewhere/run.sh PLATFORM FOLDER [SUITE...]     from the top of the tree; FOLDER keeps what is built
# PLATFORM: musl, windows, aarch64, s390x, riscv64 by Debian's compilers; windows-clang, windows-arm64, macos-arm64, macos-x86-64, freebsd, openbsd by zig
# (pip install ziglang; ZIG="python3 -m ziglang"), which brings their C libraries. Suites are those of the library that use nothing else,
# or the named ones. Ends with 77 if a tool is missing.
set -eu
platform=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
shift 2

run="" host="" triple="" static="" end="" sets=baseline
case $platform in
musl) CC=musl-gcc sets="baseline v3" ;;
windows) CC=x86_64-w64-mingw32-gcc-posix host=x86_64-w64-mingw32 run=wine static=-static end=.exe sets="baseline v3 v4" ;;
aarch64 | s390x | riscv64) CC=$platform-linux-gnu-gcc host=$platform-linux-gnu run="qemu-$platform -L /usr/$platform-linux-gnu" ;;
windows-clang) triple=x86_64-windows-gnu run=wine end=.exe sets="baseline v3 v4" ;;
windows-arm64) triple=aarch64-windows-gnu end=.exe ;;
macos-arm64) triple=aarch64-macos ;;
macos-x86-64) triple=x86_64-macos ;;
freebsd) triple=x86_64-freebsd ;;
openbsd) triple=x86_64-openbsd ;;
*) echo "there is no platform '$platform'" && exit 2 ;;
esac
if [ "$triple" ]; then
    zig=${ZIG:-$(command -v zig || echo python3 -m ziglang)}
    $zig version > /dev/null 2>&1 || { echo "there is no zig"; exit 77; }
    CC="$zig cc -target $triple -Wno-nullability-completeness"
fi
for tool in ${CC%% *} ${run%% *}; do
    command -v "$tool" > /dev/null || { echo "there is no $tool"; exit 77; }
done
export WINEDEBUG="${WINEDEBUG:--all}"
runs() { $run "$@" | tr -d '\r'; } # Windows ends lines by two characters

# ---- compiled and linked ----

make -s amalgamation "$folder/build/include/tapegrad.h" CC=cc BUILD="$folder/build" DEPENDENCIES=skip
one=$folder/build/amalgamation
[ "$folder/tapegrad.o" -nt "$one/tapegrad.c" ] ||
    $CC ${OPTIMISE:--O3} -Werror -ffp-contract=off -fopenmp-simd -fno-math-errno -fno-trapping-math -DTG_NO_BLAS -c -o "$folder/tapegrad.o" \
        "$one/tapegrad.c"
$CC -O2 $static -I "$one" -o "$folder/xor$end" examples/xor.c "$folder/tapegrad.o" -pthread -lm
echo "$platform: compiled without a warning, and linked with examples/xor.c"
[ "$run$host" ] || [ $platform = musl ] || { echo "100%: Checks: 2, Failures: 0, Errors: 0"; exit 0; }

# ---- fingerprints ----

checks=0 failed=0
cc -O2 -I "$one" -o "$folder/xor-here" examples/xor.c -DTG_BASELINE "$one/tapegrad.c" -pthread -lm -ldl -ffp-contract=off
runs "$folder/xor$end" > "$folder/xor.txt"
checks=$((checks + 1))
"$folder/xor-here" | diff - "$folder/xor.txt" || failed=$((failed + 1))
$CC -std=gnu11 -O1 $static -I . -I "$folder/build/include" -o "$folder/fingerprints$end" tests/elsewhere/fingerprints.c \
    tests/fingerprint/fingerprint.c tests/fingerprint/sha256.c "$folder/tapegrad.o" -pthread -lm
for set in $sets; do
    runs "$folder/fingerprints$end" $set > "$folder/fingerprints-$set.txt"
    [ -s "$folder/fingerprints-$set.txt" ] || continue # not on this processor
    all=tests/fingerprint/fingerprints-baseline.txt
    [ $set = baseline ] && [ $platform != aarch64 ] || all=tests/fingerprint/fingerprints.txt # with fused multiply-adds
    same=$(grep -cxFf "$folder/fingerprints-$set.txt" $all || true) of=$(wc -l < $all)
    echo "$platform: $same of $of fingerprints the same by instruction set $set"
    checks=$((checks + of)) failed=$((failed + of - same))
done

# ---- tests ----

if [ $platform = windows-clang ]; then
    echo "windows-clang: no tests, as zig's linker has no --wrap"
    echo "$((100 * (checks - failed) / checks))%: Checks: $checks, Failures: $failed, Errors: 0"
    exit $((failed > 0))
fi
no_fork=""
[ "$end" ] && no_fork=--disable-fork
[ -f "$folder/check/lib/libcheck.a" ] || {
    tests/elsewhere/source.sh check "$folder/source" > "$folder/check.log" 2>&1 || { echo "libcheck's sources cannot be had: $folder/check.log"; exit 77; }
    (cd "$folder/source/check" && CC=$CC ./configure ${host:+--host=$host} $no_fork --disable-subunit --disable-shared --prefix="$folder/check" &&
        make -C lib && make -C src install && cp check_stdint.h "$folder/check/include") > "$folder/check.log" 2>&1
}

# All that need only the library. Not `locale`, as musl writes points in every locale, nor `accuracy`, which runs a program.
more='include.*(examples/|exported|csv_tables|run_|zlib)'
left_out="locale accuracy" unused=none runner=tests/main.c
[ -z "$end" ] || left_out="$left_out killed shards" unused="pseudo_terminal|temporary_root" runner=tests/elsewhere/tests.c # no fork
suites=${*:-$(grep -LE "$more" tests/autograd/test_*.c tests/kernels/test_*.c tests/nn/test_*.c tests/optim/test_*.c \
    tests/fit/test_*.c | sed 's,.*/test_\(.*\).c,\1,' | grep -vxF "$(printf '%s\n' $left_out)")}
sources=$(for suite in $suites; do echo tests/*/test_"$suite".c; done)
support=$(grep -LE "$more" tests/support/*.c | grep -vE "$unused")
others=$(ls tests/accuracy/*.c tests/golden/*.c | grep -v 'main\|curves\|report\|yours\|golden/samples.c')
wrapped="" object=$folder/tapegrad.o
for function in $(sed -n 's/^$(OUT).*tests: LINK.*= //p' Makefile | grep -o 'wrap=[a-z_]*'); do
    ! grep -q "__wrap_${function#wrap=}(" $sources $support || wrapped="$wrapped -Wl,--$function"
done
if [ "$end" ]; then # the system's C library is in the program, and fails where its own allocations do
    wrapped=-Wl,--wrap=tg_parallel object=$folder/renamed.o
    x86_64-w64-mingw32-objcopy --redefine-sym malloc=__wrap_malloc --redefine-sym calloc=__wrap_calloc \
        --redefine-sym realloc=__wrap_realloc --redefine-sym __imp__aligned_malloc=wrapped_aligned_malloc "$folder/tapegrad.o" "$object"
fi

mkdir -p "$folder/include/tests"
for suite in $suites; do echo "TG_SUITE($suite)"; done > "$folder/include/tests/suites.def"
echo "$platform: left out are $left_out"
echo "$platform: tests of" $suites
$CC -std=gnu11 -D_GNU_SOURCE -O1 -fopenmp-simd $static $wrapped -I "$folder/include" -I . -I "$folder/build/include" -I "$folder/check/include" \
    -o "$folder/tests$end" $runner $sources $support $others "$object" "$folder/check/lib/libcheck.a" -pthread -lm
case $run in qemu*) slower=100 ;; *) slower=10 ;; esac
export CK_TIMEOUT_MULTIPLIER="${CK_TIMEOUT_MULTIPLIER:-$slower}" TMPDIR="${TMPDIR:-$folder}"
if [ "$end" ]; then
    for suite in $suites; do
        echo "---- $suite"
        runs "$folder/tests$end" "$suite" 2>&1 || true
    done
else
    nice $run "$folder/tests" 2>&1 || true
fi > "$folder/tests.txt"
# A suite that ends without its line of counts has failed.
awk -v checks=$checks -v failed=$failed -v suites="$(if [ "$end" ]; then echo $suites | wc -w; else echo 1; fi)" '
    !/^Running suite|^---- / && !/^[0-9]+%: Checks: .*Failures: 0, Errors: 0/
    /^[0-9]+%: Checks: [0-9]+, Failures: [0-9]+, Errors: [0-9]+$/ { split($0, n, /[^0-9]+/); checks += n[2]; failed += n[3] + n[4]; ended++ }
    END {
        failed += suites - ended
        checks += suites - ended
        printf "%d%%: Checks: %d, Failures: %d, Errors: %d\n", 100 * (checks - failed) / checks, checks, failed, 0
        exit failed > 0
    }' "$folder/tests.txt"
