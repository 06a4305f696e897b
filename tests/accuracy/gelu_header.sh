#!/bin/sh
# Compiles gelu.h as C and as C++, with every warning as an error, and measures its 24 functions: the largest error of each in ulp.
#   tests/accuracy/gelu_header.sh BUILD [OPTION...]     from the top of the tree; the options go to BUILD/bin/accuracy:
#                                                       --every 100000 for fewer numbers, --exhaustive for all floats
# CC, CXX and CFLAGS choose the compilers: CFLAGS='-O2 -mfma'. The exit status is 1 if one is off by more than 2 ulp.
set -eu
build=$(cd "$1" && pwd)
shift
work=$build/gelu_header
flags="-O2 -fPIC -shared -Wall -Wextra -Wconversion -pedantic -Werror -Iautograd/kernels ${CFLAGS:-}"
mkdir -p "$work"

# Each function for an array, under its name and the type: silu_grad_f32.
{
    echo '#include "gelu.h"'
    echo '#include <stddef.h>'
    for type in f32 f64; do
        real=$([ $type = f32 ] && echo float || echo double)
        for form in gelu_exact gelu_tanh gelu_quick silu; do
            for order in '' _grad _grad_grad; do
                name=$form${order}_$type
                printf '\n#ifdef __cplusplus\nextern "C"\n#endif\nvoid many_%s(size_t n, const %s *x, %s *y);\n' "$name" "$real" "$real"
                printf 'void many_%s(size_t n, const %s *x, %s *y)\n{\n    size_t i;\n' "$name" "$real" "$real"
                printf '    for (i = 0; i < n; i++)\n        y[i] = %s(x[i]);\n}\n' "$name"
            done
        done
    done
} > "$work/many.c"
cp "$work/many.c" "$work/many.cc"
# shellcheck disable=SC2086
${CC:-cc} -std=c99 $flags "$work/many.c" -o "$work/many-c.so" -lm
# shellcheck disable=SC2086
if command -v "${CXX:-c++}" > /dev/null; then "${CXX:-c++}" -std=c++11 $flags "$work/many.cc" -o "$work/many-cc.so" -lm; else echo 'C++: skipped, for there is no compiler'; fi

# For a GPU, by a clang that knows PTX: no memory but the argument and the result, and no calls.
clang=${CLANG:-clang}
if command -v "$clang" > /dev/null && "$clang" --print-targets 2> /dev/null | grep -q nvptx64; then
    cat > "$work/gpu.cu" << 'END'
#include <math.h>
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __forceinline__ inline __attribute__((always_inline))
#define __fmul_rn(a, b) __nvvm_mul_rn_f(a, b)
#define __dmul_rn(a, b) __nvvm_mul_rn_d(a, b)
#define fmaf(a, b, c) __nvvm_fma_rn_f(a, b, c)
#define fma(a, b, c) __nvvm_fma_rn_d(a, b, c)
#define __CUDACC__
#include "gelu.h"
__attribute__((global)) void floats(float x, float *y) { *y = gelu_exact_f32(x) + gelu_tanh_grad_f32(x) + silu_grad_grad_f32(x); }
__attribute__((global)) void doubles(double x, double *y) { *y = gelu_exact_f64(x) + gelu_tanh_grad_f64(x) + silu_grad_grad_f64(x); }
END
    "$clang" -x cuda --cuda-gpu-arch=sm_70 -nocudainc -nocudalib --cuda-device-only -O3 -w -Iautograd/kernels -S "$work/gpu.cu" -o "$work/gpu.ptx"
    if grep -E '[.]local|[.]const|[.]global [.]align|ld[.]global|call' "$work/gpu.ptx"; then echo 'GPU: FAILED'; exit 1; fi
else echo 'GPU: skipped, for there is no clang that knows PTX'; fi

status=0
printf '%-12s%10s%10s%10s%14s%10s%10s\n' '' 'float f' "f'" "f''" 'double f' "f'" "f''"
for form in gelu_exact gelu_tanh gelu_quick silu; do
    printf '%-12s' $form
    for type in f32 f64; do
        real=$([ $type = f32 ] && echo float || echo double)
        "$build/bin/accuracy" --load "$work/many-c.so:many_${form}_$type" --derivative many_${form}_grad_$type --second many_${form}_grad_grad_$type \
            --arrays --type $real --against $form --at-most 2 --csv "$@" > "$work/found.csv" || status=1
        [ $type = f32 ] || printf '    '
        awk -F, '$3 == "all" { printf "%10s", $4 }' "$work/found.csv"
    done
    echo
done
exit $status
