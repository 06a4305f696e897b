#!/bin/sh
# The recipe for Conan makes a package, static and shared, that a project of a few lines finds, and whose program prints what README says;
# the port for vcpkg has the library's version.
#   tests/elsewhere/packages.sh FOLDER     from the top of the tree; FOLDER keeps what is built. CONAN: the program (pip install conan).
#                                          Ends with 77 if a tool is missing.
set -eu
tree=$(pwd)
conan=${CONAN:-conan}
mkdir -p "$1"
folder=$(cd "$1" && pwd)
command -v "$conan" > /dev/null && command -v cmake > /dev/null || { echo "there is no conan or cmake"; exit 77; }
version=$(sed -n 's/.define TG_VERSION  *"\(.*\)"/\1/p' autograd/api.h)
checks=1 failed=0
grep -q "\"version\": \"$version\"" tools/vcpkg/vcpkg.json || { echo "the port for vcpkg has another version"; failed=1; }

export CONAN_HOME="$folder/conan"
export CMAKE_C_COMPILER_LAUNCHER="${CMAKE_C_COMPILER_LAUNCHER-$(command -v ccache || true)}"
[ -f "$CONAN_HOME/profiles/default" ] || "$conan" profile detect > "$folder/profile.log" 2>&1
mkdir -p "$folder/own"
cp examples/xor.c "$folder/own"
printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(own C)' 'find_package(tapegrad REQUIRED)' 'add_executable(own xor.c)' \
    'target_link_libraries(own tapegrad::tapegrad)' > "$folder/own/CMakeLists.txt"
for shared in False True; do
    cd "$tree"
    rm -rf "$folder/own/build"
    checks=$((checks + 1))
    "$conan" create tools/conan -o "tapegrad/*:shared=$shared" > "$folder/create-$shared.log" 2>&1 &&
        cd "$folder/own" &&
        "$conan" install --requires "tapegrad/$version" -o "tapegrad/*:shared=$shared" -g CMakeDeps -g CMakeToolchain --output-folder build \
            > "$folder/install-$shared.log" 2>&1 &&
        cmake -S . -B build -DCMAKE_TOOLCHAIN_FILE="$PWD/build/conan_toolchain.cmake" -DCMAKE_BUILD_TYPE=Release > "$folder/cmake-$shared.log" 2>&1 &&
        cmake --build build >> "$folder/cmake-$shared.log" 2>&1 && build/own > out && grep '^step ' "$tree/README.md" | cmp - out ||
        { echo "shared=$shared failed: $folder/*-$shared.log"; failed=$((failed + 1)); }
done
echo "$((100 * (checks - failed) / checks))%: Checks: $checks, Failures: $failed, Errors: 0"
exit "$failed"
