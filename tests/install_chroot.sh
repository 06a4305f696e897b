#!/bin/sh
# Runs the installation commands of README.md and docs/ in an empty Debian. Then installs the Debian packages in another one, which has
# only a compiler.
#   tests/install_chroot.sh FOLDER [check]     as root, from the top of the tree, with debootstrap; FOLDER keeps what is downloaded and
#                                              receives logs. check: `make check` too
# DEBIAN_SUITE and DEBIAN_MIRROR: the Debian release and its mirror. CCACHE_DIR: a compiler cache to share with that Debian.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
suite=${DEBIAN_SUITE:-bookworm}
tree=$PWD # there, too
[ "$(id -u)" = 0 ] && command -v debootstrap > /dev/null || { echo "install_chroot: needs root and debootstrap"; exit 77; }

mounted=""
leave() {
    for place in $mounted; do umount "$place"; done
    mounted=""
}
trap leave EXIT
trap 'exit 1' HUP INT TERM # of which a shell would die without its mounts

[ -e "$folder/base/complete" ] || {
    rm -rf "$folder/base"
    debootstrap --variant=minbase "$suite" "$folder/base" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" > "$folder/debootstrap.log"
    touch "$folder/base/complete"
}
mkdir -p "$folder/archives/partial"

# Unpacks an empty Debian; downloaded packages are shared.
enter() { # NAME
    leave
    root=$folder/$1
    rm -rf "$root"
    cp -a "$folder/base" "$root"
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    mount -t proc proc "$root/proc" && mounted="$root/proc"
    [ -z "${CCACHE_DIR:-}" ] || {
        mkdir "$root/ccache"
        mount --bind "$CCACHE_DIR" "$root/ccache" && mounted="$mounted $root/ccache"
    }
    mount --bind "$folder/archives" "$root/var/cache/apt/archives" && mounted="$mounted $root/var/cache/apt/archives"
}
inside() { # FOLDER-INSIDE SCRIPT: prints each command
    echo "---- $2"
    { echo "cd '$1'"; cat "$folder/$2"; } > "$root/root/commands.sh"
    env -i PATH=${CCACHE_DIR:+/usr/lib/ccache:}/usr/sbin:/usr/bin:/sbin:/bin HOME=/root ${CCACHE_DIR:+CCACHE_DIR=/ccache} chroot "$root" sh -ex /root/commands.sh > "$folder/$2.out" 2> "$folder/$2.log" ||
        { tail -n 20 "$folder/$2.out" "$folder/$2.log" >&2; echo "failed: $2" >&2; exit 1; }
}
# Prints the first code block in this language after this line of a page.
block() { # PAGE LINE LANGUAGE
    awk -v line="$2" -v fence="\`\`\`$3" '
        index($0, line) == 1 { here = 1 }
        here && !inside && $0 == fence { inside = 1; next }
        inside && /^```$/ { exit }
        inside' "$1" > "$folder/block"
    [ -s "$folder/block" ] || { echo "$1 has no such block after: $2" >&2; exit 1; }
    cat "$folder/block"
}
same() { diff "$folder/expected" "$2" || { echo "$1 prints something else" >&2; exit 1; }; }

# ---- from the sources ----
enter sources
mkdir -p "$root$tree"
git archive HEAD | tar xf - -C "$root$tree"
block README.md '```c' c > "$root$tree/program.c"
{ echo 'apt-get update'; sed -n 's/.*`make` (`\(apt-get install make\)`).*/\1 -y/p' docs/install.md; echo "${CCACHE_DIR:+apt-get install -y ccache}"; } > "$folder/packages"
block docs/install.md '# Building' sh | { [ "${2:-}" = check ] && cat || grep -v 'make check'; } > "$folder/build"
awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } /^## / { exit } inside' README.md | grep -v '^git clone\|^make check' > "$folder/first"
block README.md '## In your own program' sh > "$folder/recipe"
{ grep '^export' "$folder/recipe"; block docs/layers.md '# A layer' ""; } > "$folder/layers"
{ grep '^export' "$folder/recipe"; grep '^cc docs/first_steps' docs/first-steps.md; echo ./square; } > "$folder/first-steps"
inside /root packages
inside "$tree" build
inside "$tree" first
inside "$tree" recipe
grep '^step ' README.md > "$folder/expected"
grep '^step ' "$folder/recipe.out" > "$folder/printed"
same "the program of README.md" "$folder/printed"
inside "$tree" layers
sed -n '/^gradients: right/,/^right: /p' docs/layers.md > "$folder/expected"
same "the program of docs/layers.md" "$folder/layers.out"
inside "$tree" first-steps
grep '^f(3) = ' docs/first-steps.md > "$folder/expected"
same "the program of docs/first-steps.md" "$folder/first-steps.out"

# ---- from the Debian packages, which the same tree makes ----
{ echo 'apt-get install -y --no-install-recommends debhelper'; block docs/install.md '## Debian packages' sh; } > "$folder/deb"
inside "$tree" deb
mkdir -p "$folder/debs"
rm -f "$folder"/debs/*
cp "$root$tree"/build/deb/*.deb "$folder/debs"
cp "$root$tree/program.c" "$folder"
enter packages-only
mkdir "$root/root/debs"
cp "$folder"/debs/*.deb "$root/root/debs"
cp "$folder/program.c" "$root/root"
{
    echo 'apt-get update'
    echo 'apt-get install -y --no-install-recommends gcc libc6-dev pkg-config'
    echo 'apt-get install -y --no-install-recommends ./debs/libtapegrad0_*.deb ./debs/libtapegrad-dev_*.deb ./debs/tapegrad_*.deb'
    grep '^cc program.c' "$folder/recipe" | sed 's/ -Wl,-rpath.*//'
    echo ./program
    echo 'tapegrad-gradcheck gelu_exact'
    echo 'apt-get remove -y libtapegrad0 libtapegrad-dev tapegrad'
    echo '! ls /usr/lib/*/libtapegrad* /usr/include/tapegrad* /usr/share/tapegrad 2> /dev/null'
} > "$folder/installed"
inside /root installed
grep '^step ' README.md > "$folder/expected"
grep '^step ' "$folder/installed.out" > "$folder/printed"
same "the program of README.md with the Debian packages" "$folder/printed"
commands=$(cat "$folder"/packages "$folder"/build "$folder"/first "$folder"/recipe "$folder"/layers "$folder"/first-steps "$folder"/deb "$folder"/installed | grep -c .)
echo "100%: Checks: $commands, Failures: 0, Errors: 0"
