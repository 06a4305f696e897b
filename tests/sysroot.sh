#!/bin/sh
# Unpacks into a folder the Debian packages that programs and tests need on another processor. The machine's own packages and its list of
# architectures stay as they are.
#   tests/sysroot.sh arm64 FOLDER
set -eu
architecture=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
[ ! -e "$folder/complete" ] || exit 0
mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial" "$folder/root"
: > "$folder/apt/status"
apt() {
    apt-get -qq -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" -o APT::Sandbox::User= \
        -o Dir::State="$folder/apt" -o Dir::State::status="$folder/apt/status" -o Dir::Cache="$folder/apt" "$@"
}
apt update
apt --no-install-recommends -y --download-only install check zlib1g-dev libjansson-dev > /dev/null
rm "$folder"/apt/archives/libc6-dev_* "$folder"/apt/archives/linux-libc-dev_* # the cross compiler has its own
for package in "$folder"/apt/archives/*.deb; do dpkg -x "$package" "$folder/root"; done
rm -r "$folder/apt"
touch "$folder/complete"
