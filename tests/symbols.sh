#!/bin/sh
# Tests that the libraries export exactly what the public headers declare, and that the reference lists all of it.
#   tests/symbols.sh FOLDER     with include/tapegrad.h, libtapegrad.so, libtapegrad.a and reference.html as make leaves them there
set -eu
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# Reads the declarations between the marks of autograd/api.h, outside of braces. A function's name stands before a parenthesis; a
# constant's name is the last word.
${TG_CC:-cc} -E -P -I. -I"$1/include" "$1/include/tapegrad.h" | sed 's/[;{}]/&\n/g' | awk '
    /^#pragma GCC visibility/ { marked = /push/; next }
    { declaration = declaration " " $0 }
    /[;{}]$/ {
        if (marked && depth == 0 && declaration !~ /typedef|static/) {
            if (match(declaration, /tg_[a-z0-9_]+ *\(/))
                print substr(declaration, RSTART, RLENGTH - 1)
            else if (match(declaration, /extern .* tg_[a-z0-9_]+;/))
                print substr(declaration, RSTART, RLENGTH - 1)
        }
        depth += /{$/ ? 1 : /}$/ ? -1 : 0
        declaration = ""
    }' | awk '{ print $NF }' | sort -u > "$work/declared"

# exported FILE [OPTION]: the names of code and data that a linker sees. Names that begin with __ come from the sanitizers,
# mangle_path from the counters of make coverage.
exported() {
    nm -g --defined-only $2 "$1" | awk 'NF == 3 && $2 ~ /^[A-Z]$/ && $3 !~ /^(__|mangle_path$)/ { print $3 }' | sort -u
}
exported "$1/libtapegrad.so" -D > "$work/shared"
exported "$1/libtapegrad.a" "" > "$work/static"

[ "$(wc -l < "$work/declared")" -gt 300 ] # the pattern above has not gone blind
for library in shared static; do
    diff "$work/declared" "$work/$library" || { echo "the $library library and the headers differ" >&2; exit 1; }
done

grep -o ' id="tg_[a-z0-9_]*"' "$1/reference.html" | cut -d '"' -f 2 | sort > "$work/explained"
[ -z "$(uniq -d "$work/explained")" ] || { echo "twice in the reference: $(uniq -d "$work/explained")" >&2; exit 1; }
missing=$(comm -23 "$work/declared" "$work/explained")
[ -z "$missing" ] || { echo "not in the reference:" $missing >&2; exit 1; }
