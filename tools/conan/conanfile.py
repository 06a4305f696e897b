"""The library as a Conan 2 package: `conan create tools/conan` from the top of the tree (docs/install.md)."""

import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, cmake_layout
from conan.tools.files import copy, load, rm

TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir)


class Tapegrad(ConanFile):
    name = "tapegrad"
    description = "tape-based reverse-mode automatic differentiation for small networks"
    license = "MIT"
    package_type = "library"
    languages = "C"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "blas": [True, False]}
    default_options = {"shared": False, "blas": True}
    generators = "CMakeToolchain"

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, os.pardir, os.pardir, "autograd", "api.h"))
        self.version = re.search(r'define TG_VERSION +"(.*)"', header).group(1)

    def export_sources(self):
        for pattern in "CMakeLists.txt", "LICENSE", "tools/install", "tools/manual", "autograd/*", "nn/*", "optim/*":
            copy(self, pattern, TREE, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure(variables={"TAPEGRAD_BLAS": bool(self.options.blas)})
        cmake.build()

    def package(self):
        CMake(self).install()
        rm(self, "*.a" if self.options.shared else "*.so*", os.path.join(self.package_folder, "lib"))
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.libs = ["tapegrad"]
        self.cpp_info.system_libs = ["m", "pthread", "dl"]
