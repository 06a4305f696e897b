#!/bin/sh
# The programs on Windows: train, predict, compare and gradcheck are compiled by mingw-w64 and run under Wine, and what they write and print
# is compared with what the programs here do, byte for byte. docs/install.md has the result.
#   tests/elsewhere/programs.sh FOLDER     from the top of the tree, after make; FOLDER keeps what is built
# It needs Debian's mingw-w64, libz-mingw-w64-dev, wine, cmake, and for argp gnulib, autoconf and automake; jansson comes by its source
# package. Ends with 77 if a tool is missing.
set -eu
tree=$(pwd)
here=${TG_BUILD:-$tree/build}
mkdir -p "$1"
folder=$(cd "$1" && pwd)
host=x86_64-w64-mingw32
CC=$host-gcc-posix
for tool in $CC wine cmake gnulib-tool autoreconf; do
    command -v $tool > /dev/null || { echo "there is no $tool"; exit 77; }
done
[ -f /usr/$host/lib/libz.a ] || { echo "there is no libz-mingw-w64-dev"; exit 77; }
export WINEDEBUG="${WINEDEBUG:--all}"

# ---- the libraries that they need ----

get_jansson() (
    tests/elsewhere/source.sh jansson "$folder"
    cd "$folder"
    cmake -S jansson -B jansson/build -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_C_COMPILER=$CC -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_C_FLAGS=-D__USE_MINGW_ANSI_STDIO=1 -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF \
        -DCMAKE_INSTALL_PREFIX="$folder/libraries"
    cmake --build jansson/build && cmake --install jansson/build
)
get_argp() (
    mkdir -p "$folder/argp" && cd "$folder/argp"
    cat > configure.ac << END
AC_INIT([argp], [1])
AC_CONFIG_AUX_DIR([build-aux])
AM_INIT_AUTOMAKE([foreign])
AC_PROG_CC
gl_EARLY
gl_INIT
AC_CONFIG_HEADERS([config.h])
AC_CONFIG_FILES([Makefile lib/Makefile])
AC_OUTPUT
END
    printf 'SUBDIRS = lib\nACLOCAL_AMFLAGS = -I m4\n' > Makefile.am
    gnulib-tool --import --quiet --no-vc-files argp && autoreconf -fi && ./configure --host=$host CC=$CC && make
    # Its header alone: the macros are those of gnulib's config.h.
    { printf '#define _GL_ATTRIBUTE_FORMAT(x)\n#define _GL_INLINE extern inline\n#define _GL_INLINE_HEADER_BEGIN\n#define _GL_INLINE_HEADER_END\n' &&
        cat lib/argp.h; } > "$folder/libraries/include/argp.h"
    cp lib/libgnu.a "$folder/libraries/lib/libargp.a"
)
[ -f "$folder/libraries/lib/libjansson.a" ] || get_jansson > "$folder/jansson.log" 2>&1
[ -f "$folder/libraries/lib/libargp.a" ] || get_argp > "$folder/argp.log" 2>&1

# ---- compiled and linked ----

make -s amalgamation "$folder/build/include/tapegrad.h" CC=cc BUILD="$folder/build" DEPENDENCIES=skip
[ "$folder/tapegrad.o" -nt "$folder/build/amalgamation/tapegrad.c" ] ||
    $CC -O2 -Werror -ffp-contract=off -fopenmp-simd -fno-math-errno -fno-trapping-math -DTG_NO_BLAS -c -o "$folder/tapegrad.o" \
        "$folder/build/amalgamation/tapegrad.c"
# With this manifest, names of files are UTF-8 on Windows 10 (1903) and later.
cat > "$folder/utf8.manifest" << 'END'
<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<assembly manifestVersion="1.0" xmlns="urn:schemas-microsoft-com:asm.v1">
<application><windowsSettings>
<activeCodePage xmlns="http://schemas.microsoft.com/SMI/2019/WindowsSettings">UTF-8</activeCodePage>
</windowsSettings></application>
</assembly>
END
echo '1 24 "utf8.manifest"' > "$folder/utf8.rc"
(cd "$folder" && $host-windres utf8.rc -o utf8.o)
cat > "$folder/Makefile" << 'END'
SOURCES := $(wildcard examples/programs/system/*.c examples/programs/data/*.c examples/programs/report/*.c examples/programs/run/*.c \
    examples/programs/train/*.c examples/programs/study/*.c examples/programs/gradcheck/*.c plots/*.c)
NAMES := train predict compare gradcheck study emit activations
COMMON := $(SOURCES:%.c=$(FOLDER)/obj/%.o)
all: $(NAMES:%=$(FOLDER)/bin/%.exe)
.SECONDARY:
$(FOLDER)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -O1 -Wall -Wno-format -Wno-format-extra-args -Werror -I. -I$(FOLDER)/build/include -I$(FOLDER)/libraries/include \
	    -MMD -c -o $@ $<
$(FOLDER)/bin/%.exe: $(FOLDER)/obj/examples/programs/%.o $(COMMON) $(FOLDER)/tapegrad.o $(FOLDER)/utf8.o
	@mkdir -p $(@D)
	$(CC) -static -Wl,--stack,8388608 -o $@ $^ -L$(FOLDER)/libraries/lib -ljansson -lz -largp -pthread -lm
-include $(COMMON:.o=.d)
END
make -s -f "$folder/Makefile" FOLDER="$folder" CC=$CC

# ---- the same bytes ----

rm -rf "$folder/here" "$folder/there"
mkdir "$folder/here" "$folder/there"
checks=0 failed=0 step=0
# both PROGRAM OPTION...: here and there, each in a folder of its own; what they print is in files beside those that they write.
both() {
    program=$1 step=$((step + 1))
    shift
    (cd "$folder/here" && "$here/bin/$program" "$@" > "out-$step.txt" 2> "err-$step.txt") || echo "$program $*: status $?"
    (cd "$folder/there" && LC_ALL=C.UTF-8 wine "$folder/bin/$program.exe" "$@" > "out-$step.txt" 2> "err-$step.txt") || echo "$program $*: status $? (Wine)"
}
for side in here there; do
    cp examples/iris.csv "$folder/$side"
    cp examples/iris.csv "$folder/$side/Blüte-цветок.csv"
done
both train --data csv:iris.csv --epochs 20 --no-plots --out model
both predict --model model --data iris.csv
both train --data glyphs --model convnet --rows 500 --epochs 1 --no-plots --out images
both train --data csv:iris.csv --lr auto --epochs 5 --no-plots --out searched
both compare --data csv:iris.csv --activations relu,gelu_exact,swiglu --seeds 3 --epochs 10 --jobs 2 --no-plots --out compared
both compare --data csv:iris.csv --activations relu,gelu_exact,swiglu --seeds 4 --epochs 10 --jobs 2 --no-plots --format csv --out compared
both gradcheck 'gelu*' silu matmul --order 2
both gradcheck --list
both train --data csv:Blüte-цветок.csv --epochs 2 --no-plots --out Übung
both emit --model model

# Ctrl-C in a console stops the run there after a step, and --resume continues to the files of the run here that was not stopped.
if command -v script > /dev/null; then
    checks=$((checks + 1))
    long="--data csv:iris.csv --epochs 3000 --no-plots --out long"
    (cd "$folder/here" && "$here/bin/train" $long > err-long.txt 2>&1)
    cd "$folder/there"
    ({
        tries=0
        until [ -s long/last.safetensors ] || [ $((tries += 1)) = 600 ]; do sleep 0.1; done
        printf '\003'
        sleep 10
    } | script -qec "wine '$folder/bin/train.exe' $long" /dev/null > err-console.txt 2>&1) && status=0 || status=$?
    [ $status = 130 ] || { echo "Ctrl-C: status $status"; failed=$((failed + 1)); }
    wine "$folder/bin/train.exe" --resume --out long > err-long.txt 2>&1 || echo "train --resume: status $? (Wine)"
    cd "$tree"
fi

# Seconds that a run took, and the folder of a program in a command, are left out.
plain() {
    case $1 in
    *curves.csv) sed 's/,[^,]*$//' "$1" ;;
    */runs.csv | */config.json | out-*) sed "s,$here/bin/,,g; s/,[0-9.]*\$//" "$1" ;;
    *) cat "$1" ;;
    esac
}
for file in $(cd "$folder" && find here there -type f ! -name 'err-*' | sed 's,^[^/]*/,,' | sort -u); do
    checks=$((checks + 1))
    if [ -f "$folder/here/$file" ] && [ -f "$folder/there/$file" ]; then
        (cd "$folder/here" && plain "$file") > "$folder/one"
        (cd "$folder/there" && plain "$file") | cmp -s - "$folder/one" && continue
    fi
    echo "not the same: $file"
    failed=$((failed + 1))
done
echo "$((100 * (checks - failed) / checks))%: Checks: $checks, Failures: $failed, Errors: 0"
exit $((failed > 0))
