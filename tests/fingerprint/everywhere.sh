#!/bin/sh
# Compares the fingerprints of trainings with tests/fingerprint/fingerprints.txt, for several compilers, optimisation levels, instruction sets, numbers
# of threads, C libraries of later Debian releases and, under qemu-user, aarch64. Prints a table with the number of trainings that
# differ, and fails if one does.
#   tests/fingerprint/everywhere.sh [FOLDER [CELL...]]     what is built goes into FOLDER; from the top of the tree. CELL: gcc-O0,
#                                                          clang-O3-one-file; if none is given, all, and the rest
set -u
folder=${1:-build/fingerprints}
[ $# = 0 ] || shift
cells="$*"
status=0 checks=0 failed=0

# row NAME LIST COMMAND...
row() {
    label=$1 wanted=$2
    shift 2
    "$@" > "$folder/printed" 2> "$folder/said" || cat "$folder/said"
    differ=$(diff "$wanted" "$folder/printed" | grep -c '^[<>]')
    of=$(wc -l < "$wanted")
    printf '%-44s %4d of %d differ\n' "$label" "$differ" "$of"
    checks=$((checks + of)) failed=$((failed + (differ < of ? differ : of)))
    [ "$differ" = 0 ] || status=1
}

# with NAME MAKE-OPTIONS...: builds the program, and runs it in every instruction set of this processor.
with() {
    name=$1
    shift
    case " $cells " in "  " | *" $name "*) ;; *) return ;; esac
    case "$*" in
    *AMALGAMATION=1*) program=$folder/$name/one-file/bin/fingerprint ;;
    *) program=$folder/$name/bin/fingerprint ;;
    esac
    if ! make BUILD="$folder/$name" "$@" "$program" > "$folder/$name.log" 2>&1; then
        tail -n 5 "$folder/$name.log"
        echo "$name: cannot be built"
        checks=$((checks + 1)) failed=$((failed + 1)) status=1
        return
    fi
    for set in v4 v3 baseline; do
        "$program" --instructions $set --only none 2> /dev/null || continue
        list=tests/fingerprint/fingerprints.txt
        [ $set != baseline ] || list=tests/fingerprint/fingerprints-baseline.txt
        row "$name, $set" $list "$program" --instructions $set
    done
}

counts() {
    [ $checks = 0 ] || echo "$((100 * (checks - failed) / checks))%: Checks: $checks, Failures: $failed, Errors: 0"
    exit $status
}

mkdir -p "$folder"
# Of the one file `make amalgamation` writes, the level is that of the kernels too.
for compiler in gcc clang; do
    command -v $compiler > /dev/null || { echo "$compiler: not there, skipped"; continue; }
    for level in 0 1 2 3; do
        with $compiler-O$level CC=$compiler CFLAGS=-O$level
        with $compiler-O$level-one-file CC=$compiler CFLAGS=-O$level AMALGAMATION=1 BLAS=none
    done
done
[ -z "$cells" ] || counts
for threads in 1 2 3 5 8 16; do
    row "gcc, $threads threads" tests/fingerprint/fingerprints.txt "$folder/gcc-O2/bin/fingerprint" --threads $threads
done
if command -v aarch64-linux-gnu-gcc > /dev/null && command -v qemu-aarch64 > /dev/null; then
    make BUILD="$folder/aarch64" CC=aarch64-linux-gnu-gcc BLAS=none DEPENDENCIES=skip "$folder/aarch64/bin/fingerprint" \
        > "$folder/aarch64.log" 2>&1 || { tail -n 5 "$folder/aarch64.log"; status=1; }
    row "aarch64, gcc, qemu-user" tests/fingerprint/fingerprints.txt \
        qemu-aarch64 -L /usr/aarch64-linux-gnu "$folder/aarch64/bin/fingerprint"
else
    echo "aarch64: gcc-aarch64-linux-gnu, libc6-dev-arm64-cross or qemu-user is not there, skipped"
fi

# with_glibc SUITE: runs with the C library and dynamic linker of another Debian release; the package is unpacked beside the build.
with_glibc() {
    where=$(mkdir -p "$folder/glibc-$1" && cd "$folder/glibc-$1" && pwd)
    if [ ! -e "$where/root" ]; then
        mkdir -p "$where/lists/partial" "$where/archives/partial"
        : > "$where/status"
        echo "deb http://deb.debian.org/debian $1 main" > "$where/sources"
        (cd "$where" && for order in update 'download libc6'; do
            apt-get -qq -o APT::Sandbox::User= -o Dir::Etc::sourcelist="$where/sources" -o Dir::Etc::sourceparts=- -o Dir::State="$where" \
                -o Dir::State::status="$where/status" -o Dir::Cache="$where" $order || exit
        done && dpkg -x libc6_*.deb root) > "$where/log" 2>&1 || { echo "glibc of $1: not available, skipped"; rm -rf "$where/root"; return; }
    fi
    library=$(dirname "$(find "$where/root" -name libm.so.6)")
    version=$("$library/ld-linux-x86-64.so.2" --library-path "$library" "$library/libc.so.6" | sed -n '1s/.*version \([0-9.]*[0-9]\).*/\1/p')
    row "gcc, glibc $version of $1" tests/fingerprint/fingerprints.txt \
        "$library/ld-linux-x86-64.so.2" --library-path "$library" "$folder/gcc-O2/bin/fingerprint"
}
if command -v apt-get > /dev/null && [ "$(uname -m)" = x86_64 ]; then
    for suite in trixie sid; do with_glibc $suite; done
else
    echo "other glibc: needs apt-get on x86-64, skipped"
fi
counts
