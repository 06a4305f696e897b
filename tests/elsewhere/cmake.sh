#!/bin/sh
# A project of a few lines takes the library by CMake, and the smallest example prints the same bytes in C and in C++17, by FetchContent with
# make as a static Release and by add_subdirectory with Ninja as a shared Debug. The install test does the same for find_package.
#   tests/elsewhere/cmake.sh FOLDER     from the top of the tree; FOLDER keeps what is built, and CMake takes ccache where there is one.
#                                       Ends with 77 if a tool is missing.
set -eu
tree=$(pwd)
mkdir -p "$1"
cd "$1"
command -v cmake > /dev/null && command -v ninja > /dev/null || { echo "there is no cmake or ninja"; exit 77; }
launcher=$(command -v ccache || true)
checks=0 failed=0
rm -f ./*.txt

# way NAME "HOW THE LIBRARY IS TAKEN" OPTION...: built, and run in both languages
way() {
    name=$1
    mkdir -p "$name"
    cp "$tree/examples/xor.c" "$name/xor.c"
    printf '%s\n' '#include <tapegrad.h>' 'extern "C" int from_c(void);' 'int main() { return from_c(); }' > "$name/main.cpp"
    cat > "$name/CMakeLists.txt" << END
cmake_minimum_required(VERSION 3.18)
project(own LANGUAGES C CXX)
$2
add_executable(in_c xor.c)
target_link_libraries(in_c tapegrad::tapegrad)
add_executable(in_cpp main.cpp xor.c)
set_target_properties(in_cpp PROPERTIES CXX_STANDARD 17)
target_compile_definitions(in_cpp PRIVATE \$<\$<COMPILE_LANGUAGE:C>:main=from_c>)
target_link_libraries(in_cpp tapegrad::tapegrad)
END
    shift 2
    cmake -S "$name" -B "build $name" -DCMAKE_C_COMPILER_LAUNCHER="$launcher" "$@" > "$name.log" 2>&1 &&
        cmake --build "build $name" -j2 --target in_c in_cpp >> "$name.log" 2>&1 || tail -5 "$name.log" >&2
    for program in in_c in_cpp; do
        "build $name/$program" > "$name $program.txt" || echo "failed" > "$name $program.txt"
        [ -f first.txt ] || cp "$name $program.txt" first.txt
        checks=$((checks + 1))
        cmp "$name $program.txt" first.txt || failed=$((failed + 1))
    done
}

way fetched "include(FetchContent)
FetchContent_Declare(tapegrad SOURCE_DIR \"$tree\")
FetchContent_MakeAvailable(tapegrad)" -DCMAKE_BUILD_TYPE=Release
# For another processor only the baseline's kernels are compiled, which prints the same.
way added "add_subdirectory(\"$tree\" tapegrad)" -DCMAKE_BUILD_TYPE=Debug -DBUILD_SHARED_LIBS=ON -G Ninja \
    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=other
grep '^step ' "$tree/README.md" | cmp - first.txt || failed=$((failed + 1))
echo "$((100 * (checks - failed) / checks))%: Checks: $checks, Failures: $failed, Errors: 0"
exit $failed
