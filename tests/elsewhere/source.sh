#!/bin/sh
# The source of a library as Debian has it, whether or not this machine lists sources: unpacked in FOLDER/PACKAGE.
#   tests/elsewhere/source.sh PACKAGE FOLDER
set -eu
package=$1
mkdir -p "$2/lists/partial" "$2/parts" "$2/$package"
cd "$2"
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    [ -f "$file" ] || continue
    sed 's/^Types:.*/Types: deb-src/; s/^deb /deb-src /' "$file" > "parts/${file##*/}"
done
folder=$(pwd)
set -- -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$folder/parts" -o Dir::State::Lists="$folder/lists"
apt-get "$@" update
apt-get "$@" source --download-only "$package"
tar xf "$package"_*.orig.tar.* -C "$package" --strip-components 1
