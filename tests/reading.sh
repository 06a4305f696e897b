#!/bin/sh
# Counts the lines of the files to read that docs/tour.md lists, in a block that begins with "lines  read", and prints the list with these
# numbers. Fails if a number of the page is off by more than a tenth, or if a page names a file that is not there. What knows the operating system is not to be read.
#   tests/reading.sh     from the top of the tree
set -eu
status=0
sum=0
list=$(mktemp)
trap 'rm "$list"' EXIT
awk '/^```/ { in_list = 0 } in_list { print } /^lines +read/ { in_list = 1 }' docs/tour.md > "$list"
while read -r said places; do
    if [ "$places" = "in all" ]; then
        lines=$sum
    else
        # shellcheck disable=SC2086 # several places
        lines=$(find $places -type f ! -name 'platform.*' -exec cat {} + | wc -l)
        sum=$((sum + lines))
    fi
    printf '%5d  %s\n' "$lines" "$places"
    if [ $((10 * (lines - said))) -gt "$said" ] || [ $((10 * (said - lines))) -gt "$said" ]; then
        echo "reading: docs/tour.md says $said lines of $places" >&2
        status=1
    fi
done < "$list"
for name in $(grep -ohE '\b(autograd|nn|optim|examples|plots|tests|tools)/[A-Za-z0-9_/-]+\.[a-z]+\b' README.md docs/*.md | sort -u); do
    [ -e "$name" ] || { echo "reading: README.md or docs/ name a file that is not there: $name" >&2; status=1; }
done
[ "$sum" -gt 0 ] || { echo "reading: docs/tour.md lists no files" >&2; status=1; }
exit $status
