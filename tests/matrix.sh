#!/bin/sh
# Runs the tests with other compilers, options, processors and environments, and prints a table with a row for each.
#   tests/matrix.sh BUILD [ROW...]     from the top of the tree; all rows, or these
# A row's log is BUILD/matrix/ROW.log. A row that passed at this commit is not run again, unless you remove BUILD/matrix/ROW.result.
# SUITES: the suites of every row, instead of its own; "all".
set -u
mkdir -p "$1/matrix"
build=$(cd "$1" && pwd)
shift
work=$build/matrix
tree=$(git describe --always --dirty 2> /dev/null || echo unknown)
wanted="$*"
quick="plan memory tape grad shape matrix index kernels optim safetensors fit data_csv fuzz" # for what runs ten times as slowly
parallel="parallel threads kernels cross tape fit replay jobs"                           # where threads may meet
failed=0
MAKEFLAGS=""
export MAKEFLAGS

chosen() { echo "$suites"; }
# COMMAND...: runs the row's suites under this command. The environment is complete here: otherwise the tests would restart themselves
# without the command.
tests() (
    while IFS= read -r line; do
        eval "[ \"\${${line%%=*}+set}\" ]" || export "${line?}"
    done < "$build/environment"
    nice "$@" "$build/bin/tests" $(chosen)
)
made() { # OPTION...: by another build, in a folder of its own
    nice make check BUILD="$work/$name" DEPENDENCIES=skip SUITES="$(chosen)" "$@"
}
as_root() {
    [ "$(id -u)" = 0 ] || { echo "needs root"; return 77; }
}

# row NAME "WHAT" "SUITES" COMMAND...
row() {
    name=$1 what=$2 suites=${SUITES:-$3}
    shift 3
    case " $wanted " in "  " | *" $name "*) ;; *) return ;; esac
    if ! grep -q "^$tree $suites|.*|passed|" "$work/$name.result" 2> /dev/null || [ "$tree" = unknown ]; then
        ran=$suites
        begin=$(date +%s)
        "$@" > "$work/$name.log" 2>&1
        status=$?
        counts=$(sed -n 's/^[0-9]*%: Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: \([0-9]*\)$/\1|\2+\3/p' "$work/$name.log" | tail -1)
        verdict=FAILED
        [ $status = 0 ] && [ -n "$counts" ] && verdict=passed
        [ $status = 77 ] && verdict="not here"
        echo "$tree $ran|$what|${counts:-|}|$verdict|$(($(date +%s) - begin))" > "$work/$name.result"
    fi
    [ "$heading" ] || printf '%-14s %-52s %7s %7s %-9s %5s  %s\n' row what checks failed result s suites
    heading=1
    IFS='|' read -r ran what checks wrong verdict seconds < "$work/$name.result"
    printf '%-14s %-52s %7s %7s %-9s %5s  %s\n' "$name" "$what" "$checks" "$wrong" "$verdict" "$seconds" "${ran#* }"
    [ "$verdict" != FAILED ] || failed=1
}
heading=""

in_german() {
    mkdir -p "$work/locales"
    [ -d "$work/locales/de_DE.UTF-8" ] || localedef -i de_DE -f UTF-8 "$work/locales/de_DE.UTF-8" || return 77
    tests env LOCPATH="$work/locales" LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8
}
in_odd_paths() {
    odd="$work/odd päth \$x & (1)" # no apostrophe: tests quote their folder for the shell with it
    rm -rf "$odd"
    mkdir -p "$odd/tree" "$odd/tmp"
    git ls-files -z | xargs -0 tar cf - | tar xf - -C "$odd/tree"
    (cd "$odd/tree" && TMPDIR="$odd/tmp" nice make check DEPENDENCIES=skip SUITES="$(chosen)")
}
unprivileged() {
    as_root || return
    tmp=$(mktemp -d)
    chown 65534:65534 "$tmp"
    TMPDIR=$tmp HOME=$tmp setpriv --reuid=65534 --regid=65534 --clear-groups nice "$build/bin/tests" $(chosen)
    status=$?
    rm -rf "$tmp"
    return $status
}
# Runs in separate name spaces, with the tree read-only and without pseudo-terminals.
read_only() {
    as_root || return
    nice make "$work/$name/bin/tests" all BUILD="$work/$name" DEPENDENCIES=skip || return
    here=$PWD copy=$(mktemp -d)
    cp -r "$work/$name/." "$copy"
    unshare -m sh -c "mount --bind '$here' '$here' && mount -o remount,ro,bind '$here' && mount -t tmpfs none /dev/pts && cd '$here' &&
        ! touch x 2> /dev/null && TG_BUILD='$copy' nice '$copy/bin/tests' $(chosen)"
    status=$?
    rm -rf "$copy"
    return $status
}
# Derivatives and layers record the same operations in the same order, so that listings and emitted C are the same.
recorded_by_both() {
    for compiler in gcc clang; do
        nice make "$work/$name-$compiler/bin/golden-samples" CC=$compiler BUILD="$work/$name-$compiler" DEPENDENCIES=skip &&
            "$work/$name-$compiler/bin/golden-samples" --recorded > "$work/$name-$compiler.txt" || return
    done
    diff "$work/$name-gcc.txt" "$work/$name-clang.txt" && echo "100%: Checks: 1, Failures: 0, Errors: 0"
}
under_valgrind() {
    CK_DEFAULT_TIMEOUT=6000 tests valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite
}
without_avx() { CK_DEFAULT_TIMEOUT=6000 tests qemu-x86_64 -cpu Nehalem; }
elsewhere() { tests/elsewhere/run.sh "$1" "$work/$1" $(chosen); }
on_aarch64() { CK_DEFAULT_TIMEOUT=6000 nice make check ARCH=aarch64 BUILD="$work" SUITES="$(chosen)"; }

row O0 "gcc -O0" all made CFLAGS=-O0
row O1 "gcc -O1" all made CFLAGS=-O1
row O2 "gcc -O2, as it is" all tests env
row O3 "gcc -O3" all made CFLAGS=-O3
row lto "gcc -O3 -flto" all made CFLAGS="-O3 -flto=2" LDFLAGS=-flto=2
row fortify "-D_FORTIFY_SOURCE=3, stack protector" all made CFLAGS="-O2 -D_FORTIFY_SOURCE=3 -fstack-protector-strong"
row clang "clang" all made CC=clang
row order "gcc, clang: the same operations recorded" "" recorded_by_both
row address "gcc, address and undefined" all made SANITIZE=address,undefined
row thread "gcc, thread" "$parallel" made SANITIZE=thread
row valgrind "valgrind, memory and leaks" "tape shape safetensors index fuzz" under_valgrind
row noblas "BLAS=none" all made BLAS=none
row amalgamation "the library as one file" all made AMALGAMATION=1
row fingerprints "the same bytes: gcc, clang; -O0 to -O3; one file, many" "" tests/fingerprint/everywhere.sh "$work/fingerprints"
row cmake "CMake: FetchContent, C++17, Ninja, Debug" "" tests/elsewhere/cmake.sh "$work/cmake"
row conan "a package of Conan, static and shared" "" tests/elsewhere/packages.sh "$work/packages"
row musl "musl: the library as one file" "" elsewhere musl
row windows "Windows by mingw-w64 and Wine: the same" "" elsewhere windows
row programs "programs on Windows: Linux's bytes" "" tests/elsewhere/programs.sh "$work/programs"
row windows-clang "Windows by zig and Wine: the library as one file" "" elsewhere windows-clang
for platform in windows-arm64 macos-arm64 macos-x86-64 freebsd openbsd; do
    row $platform "$platform by zig: compiled and linked" "" elsewhere $platform
done
row s390x "s390x, big-endian, by qemu-user: the same" "" elsewhere s390x
row riscv64 "riscv64 by qemu-user: the same" "" elsewhere riscv64
row aarch64 "aarch64: cross compiler, qemu-user" "$quick" on_aarch64
row noavx "no AVX: qemu-user, Nehalem" "$quick" without_avx
row oddpaths "blanks, \$, & and umlauts in TMPDIR and the tree" all in_odd_paths
row german "LC_ALL=de_DE.UTF-8" all in_german
row readonly "the tree read-only, no /dev/pts" all read_only
row chroot "an empty Debian, by README and docs; .deb" all tests/install_chroot.sh "$work/debian"
row unprivileged "as nobody" all unprivileged
row oneprocessor "one processor" all tests taskset -c 0
row eightthreads "eight threads, everything cut finely" all tests env TG_THREADS=8 TG_CUT_FINELY=1
exit $failed
