#!/bin/sh
# The gradient checker in other languages: the wheel, installed into a fresh environment and used by a file of pytest, and the examples
# in Fortran, C++, Rust and Julia.   tests/gradcheck/bindings.sh BUILD   from the top of the tree; what is missing is skipped by name.
set -eu
build=$(cd "$1" && pwd)
work=$build/bindings
from=examples/gradcheck
failed=0
rm -rf "$work"
mkdir -p "$work"

skip() { echo "$1: skipped, for there is no $2"; }
has() { command -v "$1" > /dev/null 2>&1; }
# NAME PATTERN FIRST COMMAND...: passes if the output has a right gradient and, where the pattern says so, a wrong one.
shows() {
    name=$1 right=$2 wrong=$3
    shift 3
    if "$@" > "$work/$name.out" 2> "$work/$name.err" && grep -q "$right" "$work/$name.out" && grep -q "$wrong" "$work/$name.out"; then
        echo "$name: passed"
    else
        echo "$name: FAILED"
        cat "$work/$name.out" "$work/$name.err"
        failed=1
    fi
}
export LD_LIBRARY_PATH="$build"
agree='14 derivatives agree'
off='wrong by [0-9] of the input.s 4 elements'

if ! python3 -c 'import venv, ensurepip' 2> /dev/null; then
    skip wheel 'python3-venv'
else
    wheel=$(tools/wheel "$(sed -n 's/.define TG_VERSION  *"\(.*\)"/\1/p' autograd/api.h)" "$build/libtapegrad.so" $from/tapegrad.py LICENSE "$work" | tail -1)
    python3 -m venv --system-site-packages "$work/venv"
    "$work/venv/bin/pip" install --quiet --no-index --no-deps "$wheel"
    "$work/venv/bin/pip" install --quiet pytest 2> /dev/null || true # where there is a network
    cp $from/test_spring.py "$work"
    cd "$work"
    if venv/bin/python -c 'import pytest' 2> /dev/null; then
        shows wheel '2 passed' passed venv/bin/python -m pytest -q test_spring.py
        printf 'import tapegrad\ndef test(): assert tapegrad.gradcheck(lambda x: x * x, lambda x: x, 3.0)\n' > test_wrong.py
        shows wheel_report 'it is half as large' 'expected    6' sh -c 'venv/bin/python -m pytest -q test_wrong.py; [ $? = 1 ]'
    else
        skip pytest pytest
        shows wheel right . venv/bin/python -c 'import test_spring as t; t.test_right(); t.test_wrong(); print("right")'
    fi
    shows wheel_project 'ValueError: project failed: ZeroDivisionError' . venv/bin/python -c 'import tapegrad
try: tapegrad.gradcheck(lambda x: x * x, lambda x: 2 * x, 3.0, project=lambda x: 1 / 0)
except ValueError as error: print("ValueError:", error)'
    shows wheel_without_numpy False . venv/bin/python -c 'import tapegrad, sys; tapegrad.gradcheck(lambda x: x * x, lambda x: 2 * x, 3.0); print("numpy" in sys.modules)'
    printf 'import ctypes, math, tapegrad\n%s\n%s\n%s\n' 'print(tapegrad.accuracy(lambda x: x / 2 * (1 + math.erf(x * math.sqrt(0.5)))))' \
        'h = ctypes.CDLL("../gelu_header/many-c.so").many_gelu_exact_grad_f32' \
        'print("header", tapegrad.accuracy(lambda x: x, derivative=lambda x: (b := (ctypes.c_float * 1)(), h(ctypes.c_size_t(1), (ctypes.c_float * 1)(x), b))[0][0], dtype="float32").derivative_ulp < 2)' > ulp.py
    if [ -e ../gelu_header/many-c.so ]; then
        shows wheel_accuracy '8 to -4  *1...e+14' 'header True' venv/bin/python ulp.py
    else skip wheel_accuracy 'library of gelu.h (tests/accuracy/gelu_header.sh)'; fi
    cd - > /dev/null
fi
if has gfortran; then
    shows fortran_builds '' '' sh -c "gfortran -Wall -J'$work' $from/tapegrad_gradcheck.f90 $from/spring.f90 -L'$build' -ltapegrad -lm -o '$work/fortran' && echo"
    shows fortran "$agree" "$off" "$work/fortran"
    [ "$(wc -l < $from/tapegrad_gradcheck.f90)" -le 120 ] || { echo 'fortran: FAILED: the module has more than 120 lines'; failed=1; }
else skip fortran gfortran; fi
if has "${CXX:-g++}"; then
    shows c++_builds '' '' sh -c "${CXX:-g++} -std=c++14 -Wall -Wextra -Werror -I. -I'$build/include' $from/spring.cpp -L'$build' -ltapegrad -lm -o '$work/c++' && echo"
    shows c++ "$agree" "$off" "$work/c++"
else skip c++ g++; fi
if has rustc; then
    shows rust_builds '' '' sh -c "rustc -O $from/spring.rs -L '$build' -l tapegrad -o '$work/rust' && echo"
    shows rust "$agree" . "$work/rust"
else skip rust rustc; fi
if has julia; then shows julia 'energy  *passed' . "$build/bin/gradcheck" --command "julia $from/spring.jl"; else skip julia julia; fi
exit $failed
