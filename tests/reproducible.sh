#!/bin/sh
# Tests that the same sources give the same bytes in every folder and at every time: the installed files and the Debian packages.
#   tests/reproducible.sh FOLDER [OPTION...]     from the top of the tree, at its last commit; FOLDER receives two copies of it, and logs.
#                                                With options for make (ISAS=baseline is quicker) it skips the packages
set -eu
rm -rf "$1/one" "$1/two"
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
options=$*
commit=$(git rev-parse HEAD)
export CCACHE_DISABLE=1 # what comes from a cache was compiled in the other folder
unset SOURCE_DATE_EPOCH MAKEFLAGS BUILD CFLAGS LDFLAGS || true
packages=""
[ "$options" ] || ! command -v dh > /dev/null || packages=deb
[ "$packages" ] || echo "no packages are compared"

# The two builds differ in everything that compilers and archivers might write into files: folder, language, time zone, umask, time.
build() { # COPY TREE LC_ALL TZ UMASK
    tree=$folder/$1/$2
    mkdir -p "$tree" "$folder/$1/result"
    git archive "$commit" | tar xf - -C "$tree"
    (
        umask "$5"
        cd "$tree"
        export LC_ALL="$3" TZ="$4"
        make install $options DEPENDENCIES=skip PREFIX=/usr DESTDIR="$folder/$1/result/install" DEBUGFILES=1
        [ -z "$packages" ] || { make deb DEPENDENCIES=skip && cp build/deb/*.deb "$folder/$1/result"; }
    ) > "$folder/$1.log" 2>&1 || { tail -n 20 "$folder/$1.log" >&2; exit 1; }
}
build one tree C UTC 022
build two another/folder/deeper de_DE.UTF-8 Pacific/Auckland 002

sums() { cd "$folder/$1/result" && find . -type f | LC_ALL=C sort | xargs -d '\n' sha256sum; }
(sums one) > "$folder/one.sums"
(sums two) > "$folder/two.sums"
files=$(wc -l < "$folder/one.sums")
failed=$(LC_ALL=C diff "$folder/one.sums" "$folder/two.sums" | grep -c '^[<]' || true)
diff "$folder/one.sums" "$folder/two.sums" >&2 || failed=$((failed > 0 ? failed : 1))
echo "$((files - failed)) files have the same bytes, $failed have not"
[ "$failed" = 0 ] && [ "$files" -gt 50 ]
