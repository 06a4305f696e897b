#!/bin/sh
# The page of `make playground`: compiles the library and this folder to WebAssembly and joins the parts to one file.
#   examples/programs/playground/build.sh AMALGAMATION PAGE     from the top of the tree; AMALGAMATION is the folder of tapegrad.c
set -eu
folder=$1 page=$2
emcc=${EMCC:-emcc}
command -v "$emcc" >/dev/null || { echo "make playground needs emcc: apt-get install emscripten" >&2; exit 1; }
work=$(dirname "$page")/playground
mkdir -p "$work"
flags="-O3 -sSUPPORT_LONGJMP=wasm -msimd128 -ffp-contract=off -fopenmp-simd -fno-math-errno -fno-trapping-math"

# TG_SMALL: pointers of 32 bits, as all sizes are bounded by the page.
[ "$work/tapegrad.o" -nt "$folder/tapegrad.c" ] || "$emcc" $flags -DTG_NO_BLAS -DTG_SMALL -c -o "$work/tapegrad.o" "$folder/tapegrad.c"

# What the header declares is exported. Readers of files, which the table of data sets names, stay undefined.
exports=$(sed -n 's/^[a-z].*[ *]\(playground_[a-z_]*\)(.*/_\1/p' examples/programs/playground/playground.h | paste -sd,)
"$emcc" $flags -D_GNU_SOURCE -I. -I"$folder" -o "$work/playground.wasm" \
    examples/programs/playground/*.c examples/programs/data/generate.c examples/programs/data/glyphs.c "$work/tapegrad.o" \
    -sSTANDALONE_WASM --no-entry -sALLOW_MEMORY_GROWTH -sERROR_ON_UNDEFINED_SYMBOLS=0 -sEXPORTED_FUNCTIONS="$exports" \
    2>"$work/messages" && ! grep -v 'undefined symbol: dataset_' "$work/messages" >&2 || { cat "$work/messages" >&2; exit 1; }

base64 -w0 "$work/playground.wasm" > "$work/wasm"
while IFS= read -r line; do
    case $line in
    @CSS@) cat examples/programs/playground/page.css ;;
    @JS@) cat examples/programs/playground/draw.js examples/programs/playground/page.js ;;
    *@WASM@*) printf '%s' "${line%%@WASM@*}" && cat "$work/wasm" && printf '%s\n' "${line#*@WASM@}" ;;
    *) printf '%s\n' "$line" ;;
    esac
done < examples/programs/playground/page.html > "$page.part"
mv "$page.part" "$page"
