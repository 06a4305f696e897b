#!/bin/sh
# Compiles and runs programs outside of the tree against what `make install` installs. Each case tests one thing.
#   tests/install.sh CASE FOLDER     from the top of the tree; FOLDER is of the caller and holds what `install` installs
set -eu
tree=$(pwd)
folder=$2
build=$(cd "${TG_BUILD:-build}" && pwd)
cd "$folder"
prefix=$(pwd)/prefix
unset CPATH LIBRARY_PATH LD_LIBRARY_PATH PKG_CONFIG_PATH || true
strict="-Wall -Wextra -Wpedantic -Werror"

flags() { PKG_CONFIG_PATH="$prefix/lib/pkgconfig" pkg-config "$@" tapegrad; }

# d(x^2)/dx at 3, for C and for C++, with the header that $1 names.
write_six() {
    cat << END
#include $1
#include <stdio.h>
int main(void)
{
    tg_tape *tape = tg_tape_new();
    double three[1] = {3};
    tg_tensor x = tg_variable(tape, TG_F64, three, TG_SHAPE(1));
    bool fine = tg_backward(tg_sum(tg_mul(x, x))) && tg_item(tg_gradient(x)) == 6;
    printf("%s\n", fine ? "six" : tg_tape_error(tape));
    tg_tape_free(tape);
    return fine ? 0 : 1;
}
END
}

case $1 in
install)
    MAKEFLAGS='' make -C "$tree" install-library DEPENDENCIES=skip PREFIX="$prefix" > install.log 2>&1 || { cat install.log >&2; exit 1; }
    ;;

headers) # both ways to name it, C and C++, and nothing else of ours where users' own headers are looked for
    for header in '<tapegrad.h>' '<tapegrad/tapegrad.h>'; do
        write_six "$header" > six.c
        write_six "$header" > six.cc
        cc -std=c11 $strict six.c -o six $(flags --cflags --libs)
        LD_LIBRARY_PATH=$prefix/lib ./six | grep -q six
        for standard in c99 c11 c17 c2x; do
            cc -std=$standard $strict $(flags --cflags) -fsyntax-only six.c
            ! command -v clang > /dev/null || clang -std=$standard $strict $(flags --cflags) -fsyntax-only six.c
        done
        for standard in c++11 c++14 c++17 c++20 c++2b; do
            c++ -std=$standard $strict $(flags --cflags) -fsyntax-only six.cc
            ! command -v clang++ > /dev/null || clang++ -std=$standard $strict $(flags --cflags) -fsyntax-only six.cc
        done
        c++ -std=c++11 $strict six.cc -o six $(flags --cflags --libs)
        LD_LIBRARY_PATH=$prefix/lib ./six | grep -q six
    done
    [ "$(ls "$prefix/include" | tr '\n' ' ')" = "tapegrad tapegrad.h " ]
    for header in $(cd "$prefix/include" && find . -name '*.h'); do # each is whole by itself
        echo "#include \"$header\"" | cc -std=c11 $strict -I "$prefix/include" -fsyntax-only -x c -
    done
    version=$(printf '#include <tapegrad.h>\nTG_VERSION\n' | cc -E -P $(flags --cflags) - | tail -1)
    grep -q "^tapegrad ($(flags --modversion)) " "$tree/tools/debian/changelog" || { echo "debian/changelog has another version" >&2; exit 1; }
    [ "$version" = "\"$(flags --modversion)\"" ] || { echo "tapegrad.pc has another version than $version" >&2; exit 1; }
    for inside in '*_internal*' 'kernels*' 'arena.h' 'text.h' 'run.h' '*.inc'; do
        [ -z "$(find "$prefix" -name "$inside")" ] || { echo "$inside is installed" >&2; exit 1; }
    done
    ;;

guide) # the programs of docs/first-steps.md, docs/layers.md and docs/tour.md
    cc -std=c11 -O1 $strict "$tree/docs/first_steps/square.c" -o square $(flags --cflags --libs) -lm
    LD_LIBRARY_PATH=$prefix/lib ./square > out
    grep '^f(3) = ' "$tree/docs/first-steps.md" | diff - out
    cc -std=c11 -O1 $strict "$tree/docs/layers/own.c" -o own $(flags --cflags --libs) -lm
    LD_LIBRARY_PATH=$prefix/lib ./own > out
    sed -n '/^gradients: right/,/^right: /p' "$tree/docs/layers.md" | diff - out
    cc -std=c11 -O1 $strict "$tree/docs/tour/step.c" -o step $(flags --cflags --libs) -lm
    LD_LIBRARY_PATH=$prefix/lib ./step | sed 's/ *$//' > out
    sed -n '/^number  operation/,/^step 3/p' "$tree/docs/tour.md" | diff - out
    ;;

staged) # for packages: into a folder that is not where it will be, which no file may name; and out of it again
    stage() {
        MAKEFLAGS='' make -C "$tree" $1 DEPENDENCIES=skip DESTDIR="$folder/stage" PREFIX=/usr LIBDIR=/usr/lib/machine DEBUGFILES=1 > /dev/null
    }
    stage install
    [ "$(ls "$folder/stage")" = usr ]
    cp -r stage staged
    stage uninstall
    [ -z "$(find stage ! -type d)" ] || { echo "uninstall leaves: $(find stage ! -type d)" >&2; exit 1; }
    rm -r stage && mv staged stage
    for program in activations compare emit gradcheck predict study train; do
        [ -x "stage/usr/bin/tapegrad-$program" ] && [ -s "stage/usr/bin/.debug/tapegrad-$program.debug" ]
        grep -q "^.B tapegrad..$program" "stage/usr/share/man/man1/tapegrad-$program.1" || { echo "no manual of $program" >&2; exit 1; }
    done
    ! readelf -S stage/usr/lib/machine/libtapegrad.so.0 | grep -q '\.debug_info' || { echo "the library is not stripped" >&2; exit 1; }
    nm -D stage/usr/lib/machine/libtapegrad.so.0 | grep -q ' T tg_backward$'
    cd stage/usr
    for file in include/tapegrad.h include/tapegrad/tapegrad.h lib/machine/libtapegrad.a lib/machine/libtapegrad.so; do
        [ -s "$file" ] || { echo "$file is not installed" >&2; exit 1; }
    done
    [ "$(PKG_CONFIG_PATH=lib/machine/pkgconfig pkg-config --variable=libdir tapegrad)" = /usr/lib/machine ]
    ! grep -rq "$folder/stage" . || { echo "an installed file names the folder of the staging" >&2; exit 1; }
    ;;

blanks) # in every path; by pkg-config, and by CMake
    rm -rf "with blank"
    MAKEFLAGS='' make -C "$tree" install DEPENDENCIES=skip PREFIX="$folder/with blank" STRIP= > install.log 2>&1 || { cat install.log >&2; exit 1; }
    write_six '<tapegrad.h>' > six.c
    PKG_CONFIG_PATH="$folder/with blank/lib/pkgconfig" pkg-config --cflags --libs tapegrad > words
    eval "cc -std=c11 six.c -o six $(cat words)"
    LD_LIBRARY_PATH="$folder/with blank/lib" ./six | grep -q six
    if command -v cmake > /dev/null; then
        printf '%s\n' 'cmake_minimum_required(VERSION 3.10)' 'project(six C)' 'find_package(tapegrad 0.1 REQUIRED)' \
            'add_executable(six six.c)' 'target_link_libraries(six tapegrad::tapegrad)' > CMakeLists.txt
        cmake -S . -B "cmake build" -DCMAKE_PREFIX_PATH="$folder/with blank" > cmake.log 2>&1 && cmake --build "cmake build" >> cmake.log 2>&1 ||
            { cat cmake.log >&2; exit 1; }
        "cmake build/six" | grep -q six
        ldd "cmake build/six" | grep -q libtapegrad
        sed 's/tapegrad::tapegrad/tapegrad::tapegrad_static/' CMakeLists.txt > static.txt
        for kind in OFF ON; do # BUILD_SHARED_LIBS chooses tapegrad::tapegrad; tapegrad_static is static always
            [ $kind = OFF ] || mv static.txt CMakeLists.txt
            rm -rf "cmake build"
            cmake -S . -B "cmake build" -DCMAKE_PREFIX_PATH="$folder/with blank" -DBUILD_SHARED_LIBS=$kind > cmake.log 2>&1 &&
                cmake --build "cmake build" >> cmake.log 2>&1 || { cat cmake.log >&2; exit 1; }
            "cmake build/six" | grep -q six
            ! ldd "cmake build/six" | grep -q libtapegrad
        done
        mv "with blank" "moved away" # a package may be moved
        rm -rf "cmake build"
        cmake -S . -B "cmake build" -DCMAKE_PREFIX_PATH="$folder/moved away" > cmake.log 2>&1 && cmake --build "cmake build" >> cmake.log 2>&1 ||
            { cat cmake.log >&2; exit 1; }
        mv "moved away" "with blank"
    fi
    # CMakeLists.txt builds the library as the Makefile does: it names the same pieces for exported C.
    [ "$(sed -n '/^set(pieces coefficients/,/)/p' "$tree/CMakeLists.txt" | tr -d '\n' | sed 's/set(pieces //; s/).*//; s/  */ /g')" = "$(sed -n '/^PIECES_OF/,/)))/p' "$tree/Makefile" |
        tr -d '\\\n' | sed 's/.*suffix .inc,//; s/)).*//; s/  */ /g')" ] || { echo "CMakeLists.txt has other pieces than the Makefile" >&2; exit 1; }
    mkdir moved # alone, without the scripts beside it
    cp "with blank/bin/tapegrad-activations" moved
    (cd moved && XDG_DATA_DIRS="$folder/with blank/share" ./tapegrad-activations --out pictures > said 2>&1) || { cat moved/said >&2; exit 1; }
    ! command -v gnuplot > /dev/null || [ -s moved/pictures/activations.png ] || { cat moved/said >&2; exit 1; }
    bash -c '. "$1"; COMP_WORDS=("$2" --see); COMP_CWORD=1; _tapegrad "$2"; echo "${COMPREPLY[@]}"' - \
        "with blank/share/bash-completion/completions/tapegrad-train" "with blank/bin/tapegrad-train" > said 2> /dev/null
    grep -q '^--seed' said || { echo "completion says: $(cat said)" >&2; exit 1; }
    ;;

static)
    write_six '<tapegrad.h>' > six.c
    ${TG_CC:-cc} -std=c11 six.c -o six $(flags --cflags) "$prefix/lib/libtapegrad.a" $(flags --static --libs | sed 's/-ltapegrad//')
    ./six | grep -q six
    ;;

amalgamation) # by the command of docs/install.md, but quicker; the header by every standard; the same bytes as the library
    cp "$build/amalgamation/tapegrad.c" "$build/amalgamation/tapegrad.h" .
    sed -n 's/^cc -O3 \(.* -c tapegrad\.c\)$/${TG_CC:-cc} -O1 -DTG_WARNINGS -Wall -Wextra -Werror \1/p' "$tree/docs/install.md" > command.sh
    [ "$(wc -l < command.sh)" = 1 ] && sh -e command.sh
    ${TG_CC:-cc} -Wall -Wextra -Wconversion -Wshadow -Werror -fsyntax-only tapegrad.c # without -DTG_WARNINGS
    write_six '"tapegrad.h"' | tee six.c > six.cc
    for standard in c99 c11 c17 c2x; do cc -std=$standard $strict -fsyntax-only six.c; done
    for standard in c++11 c++14 c++17 c++20 c++2b; do c++ -std=$standard $strict -fsyntax-only six.cc; done
    ${TG_CC:-cc} -I. "$tree/examples/xor.c" tapegrad.o -o xor -lm -pthread -ldl
    ./xor > out
    grep '^step ' "$tree/README.md" | diff - out
    ${TG_CC:-cc} ${CFLAGS:-} ${LDFLAGS:-} "$build"/obj/tests/fingerprint/*.o tapegrad.o -o fingerprint -lm -pthread -ldl
    ./fingerprint > out
    "$build/bin/fingerprint" | diff - out
    ;;

parts) # by the command of docs/install.md; a third of the lines and bytes, 300 kB of code in a program, and the bytes of the whole
    MAKEFLAGS='' make -s -C "$tree" amalgamation PARTS=mlp BUILD="${TG_BUILD:-build}" DEPENDENCIES=skip
    mkdir part
    cp "$build/amalgamation-mlp/tapegrad.c" "$build/amalgamation-mlp/tapegrad.h" part
    for unit in l c; do
        [ "$(wc -$unit < part/tapegrad.c)" -le "$(($(wc -$unit < "$build/amalgamation/tapegrad.c") / 3))" ]
    done
    sed -n 's/^cc -O2 \(.* -c tapegrad\.c\)$/${TG_CC:-cc} -O2 -Wall -Wextra -Wconversion -Wshadow -Werror \1/p' "$tree/docs/install.md" > command.sh
    [ "$(wc -l < command.sh)" = 1 ]
    (cd part && sh -e ../command.sh && ${TG_CC:-cc} -I. "$tree/examples/xor.c" tapegrad.o -o xor -Wl,--gc-sections -lm -pthread)
    part/xor > out
    grep '^step ' "$tree/README.md" | diff - out
    [ "$(size part/xor | awk 'NR == 2 { print $1 }')" -lt 300000 ]
    ${TG_CC:-cc} -Ipart "$tree/examples/xor.c" part/tapegrad.o -o xor-whole -lm -pthread # a linker that drops nothing misses nothing
    ./xor-whole | cmp - out
    # it has what it declares
    nm part/tapegrad.o | awk '$2 == "T" { print $3 }' | LC_ALL=C sort > has
    { grep -oE '^[a-z].*[ *]tg_[a-z_0-9]+\(' part/tapegrad.h; grep -oE '^TG_([A-Z]+_)?OP\(tg_[a-z_0-9]+' part/tapegrad.h; } |
        grep -vE '^(typedef|inline)' | grep -oE 'tg_[a-z_0-9]+\(?$' | tr -d '(' | LC_ALL=C sort -u > declares
    [ "$(wc -l < declares)" -gt 200 ] && [ -z "$(LC_ALL=C comm -13 has declares)" ]
    # a derivative of a derivative is refused
    cat > second.c << 'END'
#include "tapegrad.h"
#include <stdio.h>
int main(void)
{
    tg_tape *tape = tg_tape_new();
    tg_tensor x = tg_variable(tape, TG_F64, (double[]){1}, TG_SHAPE(1));
    puts(tg_backward(tg_sum(tg_gelu_exact_grad(x))) ? "differentiated" : tg_tape_error(tape));
    tg_tape_free(tape);
}
END
    ${TG_CC:-cc} -Ipart second.c part/tapegrad.o -o second -Wl,--gc-sections -lm -pthread
    ./second | grep 'first order only'
    # every digit of the weights, of several nets and optimisers
    sed 's|^    tg_optimizer_free.*|    tg_parameters_save(tg_mlp_parameters(net), argv[argc - 1], NULL, 0, NULL);\n&|
        s/int main(void)/int main(int argc, char **argv)/
        s/tg_mlp_forward(\(.*\));/tg_mlp_forward_with(\1, \&rng, NULL);/
        s/{16}/{16, 16} NET/; s/\.lr = 1e-2/& STEPS/' \
        "$tree/examples/xor.c" > saved.c
    ${TG_CC:-cc} -O0 -DTG_BASELINE -DTG_NO_BLAS -ffp-contract=off -fopenmp-simd -c "$build/amalgamation/tapegrad.c" -o whole.o
    ${TG_CC:-cc} -Ipart "$tree/tests/elsewhere/operations.c" part/tapegrad.o -o operations-part -lm -pthread
    ${TG_CC:-cc} -I"$build/amalgamation" "$tree/tests/elsewhere/operations.c" whole.o -o operations-whole -lm -pthread
    ./operations-part > operations
    ./operations-whole | cmp - operations
    [ "$(wc -l < operations)" -gt 300 ]
    while IFS=';' read -r net steps; do
        ${TG_CC:-cc} "-DNET=$net" "-DSTEPS=$steps" -Ipart saved.c part/tapegrad.o -o saved-part -Wl,--gc-sections -lm -pthread
        ${TG_CC:-cc} "-DNET=$net" "-DSTEPS=$steps" -I"$build/amalgamation" saved.c whole.o -o saved-whole -lm -pthread
        ./saved-part part.safetensors
        ./saved-whole whole.safetensors
        cmp part.safetensors whole.safetensors && [ -s part.safetensors ]
    done << 'END'
;
, .activation = TG_SWIGLU, .norm = TG_NORM_RMS, .dropout = 0.2;, .kind = TG_MUON
, .activation = TG_MISH, .norm = TG_NORM_BATCH;, .kind = TG_SGD, .momentum = 0.9
, .activation = TG_GELU_TANH, .norm = TG_NORM_LAYER, .residual = true;, .kind = TG_LION
END
    ;;

cplusplus) # sizes and axes of every integer type, as C takes them, and none that loses a fraction; the version
    cat > strict.cc << 'END'
#include <tapegrad.h>
#include <cstring>
#include <vector>
enum { ROWS = 2 };
int main()
{
    std::vector<double> numbers(6, 1.5);
    const size_t columns = numbers.size() / ROWS;
    const int64_t last = -1;
    tg_tape *tape = tg_tape_new();
    tg_tensor x = tg_constant(tape, TG_F64, numbers.data(), TG_SHAPE(ROWS, columns));
    tg_tensor rows = tg_sum_over(x, TG_AXES(last), false), all = tg_sum_over(x, TG_AXES(0u, 1), false);
    tg_tensor rest = tg_sum_over(tg_add(x, TG_NONE), TG_ALL_AXES, false);
    bool fine = tg_rank(rows) == 1 && tg_item(all) == 9 && tg_shape_of(all).rank == TG_SCALAR.rank && !tg_ok(rest) &&
                TG_SHAPE().rank == 0 && TG_SHAPE(columns).dim[0] == 3 &&
                std::strcmp(tg_version(), TG_VERSION) == 0 && TG_VERSION[0] == '0' + TG_VERSION_MAJOR &&
                TG_VERSION[2] == '0' + TG_VERSION_MINOR && TG_VERSION[4] == '0' + TG_VERSION_PATCH;
#ifdef LOSES_A_FRACTION
    fine = fine && TG_SHAPE(2.5).rank == 1;
#endif
    tg_tape_free(tape);
    return fine ? 0 : 1;
}
END
    warnings="-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror"
    for standard in 11 20; do
        c++ -std=c++$standard $warnings strict.cc -o strict $(flags --cflags --libs)
        LD_LIBRARY_PATH=$prefix/lib ./strict
    done
    ! c++ -std=c++11 -DLOSES_A_FRACTION strict.cc -o strict $(flags --cflags --libs) 2> /dev/null
    ;;

unload) # a program may close the library after its threads have worked: a product of this size is shared among them
    cat > unload.c << 'END'
#include <dlfcn.h>
#include <stdlib.h>
#include <tapegrad.h>
#include <unistd.h>
enum { N = 700 };
int main(int argc, char **argv)
{
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    if (!library)
        return 1;
    tg_tape *(*tape_new)(void) = (tg_tape *(*)(void))dlsym(library, "tg_tape_new");
    void (*tape_free)(tg_tape *) = (void (*)(tg_tape *))dlsym(library, "tg_tape_free");
    tg_tensor (*constant)(tg_tape *, tg_dtype, const void *, tg_shape) =
        (tg_tensor (*)(tg_tape *, tg_dtype, const void *, tg_shape))dlsym(library, "tg_constant");
    tg_tensor (*matmul)(tg_tensor, tg_tensor) = (tg_tensor (*)(tg_tensor, tg_tensor))dlsym(library, "tg_matmul");
    tg_tensor (*gelu)(tg_tensor) = (tg_tensor (*)(tg_tensor))dlsym(library, "tg_gelu_exact");
    double (*item)(tg_tensor, int64_t) = (double (*)(tg_tensor, int64_t))dlsym(library, "tg_at");
    float *ones = malloc(N * N * sizeof *ones);
    for (int i = 0; i < N * N; i++)
        ones[i] = 1;
    tg_tape *tape = tape_new();
    tg_tensor x = constant(tape, TG_F32, ones, TG_SHAPE(N, N));
    double product = item(gelu(matmul(x, x)), 0);
    tape_free(tape);
    free(ones);
    if (dlclose(library) != 0)
        return 2;
    usleep(100000); /* the threads look for work meanwhile */
    return product == N ? 0 : 3;
}
END
    cc -std=c11 -D_GNU_SOURCE unload.c -o unload $(flags --cflags) -ldl
    OPENBLAS_NUM_THREADS=2 ./unload "$prefix/lib/libtapegrad.so"
    ;;

recipe) # the lines of README.md, on README.md's program, in a shell in which nothing else is set
    for entry in "$tree"/*; do
        [ -e "${entry##*/}" ] || ln -s "$entry" .
    done
    awk '/^```c$/ { inside = 1; next } /^```$/ && inside { exit } inside' "$tree/README.md" > program.c
    awk '/^## In your own program$/ { here = 1 } here && /^```sh$/ { inside = 1; next } /^```$/ && inside { exit } inside' \
        "$tree/README.md" > recipe.sh
    [ -s program.c ] && grep -q 'make install' recipe.sh
    env -i PATH="$PATH" HOME="$folder/home" BUILD="${BUILD:-build}" CC="${CC:-cc}" CFLAGS="${CFLAGS:-}" LDFLAGS="${LDFLAGS:-}" \
        DEBUG="${DEBUG:-}" sh -e recipe.sh > recipe.log 2>&1 || { cat recipe.log >&2; exit 1; }
    grep -q '^step 200 .* accuracy 100 %$' recipe.log
    ;;
esac
