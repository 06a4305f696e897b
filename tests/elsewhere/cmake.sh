#!/bin/sh
# A project of a few lines takes the library by CMake in each way, and the smallest example prints the same bytes in all of them: by
# FetchContent and add_subdirectory, in C and C++17, by make and Ninja, as Release and Debug, shared and static. The install test does the
# same for find_package.
#   tests/elsewhere/cmake.sh FOLDER     from the top of the tree; FOLDER keeps what is built. Ends with 77 if a tool is missing.
set -eu
tree=$(pwd)
mkdir -p "$1"
cd "$1"
command -v cmake > /dev/null && command -v ninja > /dev/null || { echo "there is no cmake or ninja"; exit 77; }
checks=0 failed=0

# project FOLDER LANGUAGE STANDARD "HOW THE LIBRARY IS TAKEN"
project() {
    mkdir -p "$1"
    cp "$tree/examples/xor.c" "$1/xor.c"
    [ "$2" = C ] || printf '%s\n' '#include <tapegrad.h>' 'extern "C" int from_c(void);' 'int main() { return from_c(); }' > "$1/main.cpp"
    cat > "$1/CMakeLists.txt" << END
cmake_minimum_required(VERSION 3.18)
project(own LANGUAGES C $2)
$4
add_executable(own xor.c $([ "$2" = C ] || echo main.cpp))
set_property(TARGET own PROPERTY $3)
target_link_libraries(own tapegrad::tapegrad)
END
}
# way NAME FOLDER OPTION...: built and run, and compared with the first
way() {
    name=$1 source=$2
    shift 2
    cmake -S "$source" -B "build $name" "$@" > "$name.log" 2>&1 && cmake --build "build $name" -j2 --target own >> "$name.log" 2>&1 &&
        "build $name/own" > "$name.txt" || { tail -5 "$name.log" >&2; echo "failed" > "$name.txt"; }
    [ -f first.txt ] || cp "$name.txt" first.txt
    checks=$((checks + 1))
    cmp "$name.txt" first.txt || failed=$((failed + 1))
}

rm -f first.txt
fetched="include(FetchContent)
FetchContent_Declare(tapegrad SOURCE_DIR \"$tree\")
FetchContent_MakeAvailable(tapegrad)"
project fetched C C_STANDARD\ 11 "$fetched"
project fetched++ CXX CXX_STANDARD\ 17 "$fetched
add_compile_definitions(\$<\$<COMPILE_LANGUAGE:C>:main=from_c>)"
project added C C_STANDARD\ 11 "add_subdirectory(\"$tree\" tapegrad)"
way release fetched -DCMAKE_BUILD_TYPE=Release
way debug fetched -DCMAKE_BUILD_TYPE=Debug -G Ninja
way cpp fetched++ -G Ninja -DBUILD_SHARED_LIBS=ON
way added added -DCMAKE_BUILD_TYPE=Debug -DBUILD_SHARED_LIBS=ON
[ "$(wc -l < first.txt)" -gt 3 ] || failed=$((failed + 1))
echo "$((100 * (checks - failed) / checks))%: Checks: $checks, Failures: $failed, Errors: 0"
exit $failed
