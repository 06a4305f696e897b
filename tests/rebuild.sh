#!/bin/sh
# Lists, for several changes, the sources that make would compile again. `make -n` tells, without building anything.
#   tests/rebuild.sh FOLDER     from the top of the tree; FOLDER holds what make has built
set -eu
[ "${AMALGAMATION:-0}" = 0 ] || exit 0 # there is one source of the library then
out=$1
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# plan OPTION...: the sources that make would compile for all that `make check` needs.
plan() { MAKEFLAGS='' make -n "$@" check | sed -n 's/^.* -c -o [^ ]* \([^ ]*\)$/\1/p' | sort -u; }
fail() { echo "rebuild: $1" >&2; exit 1; }

plan > "$work/now" # nothing, unless somebody changes files meanwhile
plan -B > "$work/everything"
[ "$(wc -l < "$work/everything")" -gt 100 ]

# A changed list of operations: only the files that include it are compiled.
plan -W autograd/ops.def > "$work/changed"
grep -rl --include='*.d' 'autograd/ops.def' "$out/obj" | sed "s|^$out/obj/||; s|d\$|c|" | sort > "$work/readers"
sort -u "$work/now" "$work/readers" > "$work/expected"
[ -z "$(comm -23 "$work/changed" "$work/expected")" ] || fail "ops.def rebuilds $(comm -23 "$work/changed" "$work/expected" | wc -l) that do not read it"
for reader in autograd/ops/registry.c examples/quickstart.c; do
    grep -qx "$reader" "$work/changed" || fail "ops.def does not rebuild $reader"
done
[ "$(wc -l < "$work/changed")" -lt "$(wc -l < "$work/everything")" ]

# Other flags or another compiler: everything is compiled.
for other in "CFLAGS=${CFLAGS:-} -DTG_OTHER" "LDFLAGS=${LDFLAGS:-} -Wl,-z,now" "CC=env ${CC:-cc}"; do
    plan "$other" | diff - "$work/everything" > /dev/null || fail "$other does not rebuild everything"
done

# Options such as DEBUG and SANITIZE build into folders of their own.
for option in DEBUG=$([ "${DEBUG:-}" = 1 ] || echo 1) SANITIZE=$([ -n "${SANITIZE:-}" ] || echo undefined); do
    ! MAKEFLAGS='' make -n -B "$option" lib | grep -q -- " -c -o $out/obj/" || fail "$option builds into $out"
done
