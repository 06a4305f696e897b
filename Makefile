# tapegrad: build, check, demo, bench, install.
#
#   make               the library and the programs, under build/
#   make check         the tests
#   make check-all     those too that install, compile exported C, and build again; and README's commands from a fresh clone
#   make check-long    the exhaustive ones too, and MPFR
#   make demo          the main comparison on embedded data, with pictures
#   make bench         speed, as ratios within one run
#   make fuzz          readers of files and random operations under libFuzzer and sanitizers (clang): FUZZ_SECONDS=60 each, FUZZ="csv config"
#   make fingerprints  the same trainings by every compiler, instruction set and number of threads, and on aarch64
#   make golden        the reference values in tests/golden anew (python3 with torch and mpmath)
#   make check-faults  each allocation, file call, fork and thread of the programs made to fail once
#   make check-matrix  the tests under other compilers, options and processors, as a table: ROWS="O0 clang valgrind"
#   make coverage      how many lines of each file the tests run (gcov)
#   make amalgamation  the library as tapegrad.c and tapegrad.h, to be compiled with a program; PARTS=mlp: only what MLPs need
#   make playground    two nets that learn in a browser, as one page: build/playground.html (emscripten)
#   make check-playground   the page in Chromium without a window
#   make wheel         the gradient checker as a package for Python, to be installed by pip
#   make gelu-header   autograd/kernels/gelu.h anew: GELU and SiLU in one header, from the kernels' tables (python3 with mpmath)
#   make reference     every function of the library on one page, build/reference.html
#   make install       libraries, headers, programs, manual pages, and what pkg-config, CMake and bash look for
#                      (PREFIX, LIBDIR, INCLUDEDIR, BINDIR, MANDIR, DATADIR, DESTDIR; STRIP=, DEBUGFILES=1)
#   make deb           Debian packages: libtapegrad0, libtapegrad-dev, tapegrad
#   make install-library, make uninstall, make clean, make help
#
# Options: SANITIZE=address,undefined   CC=clang   DEBUG=1   BUILD=some/other/folder
#          MPI=1 (train and bench --mpi on several processes: mpirun -n 4 build/mpi/bin/train --shards 8 ...;
#             by another MPI: MPICC=mpicc.mpich)
#          DEPENDENCIES=check (look for packages, never install) or skip   V=1 (show the commands)
#          ARCH=aarch64 (by the cross compiler; tests under qemu-user)   SUITES="tape grad" (of the tests)
#          TG_JOBS=1 (suites at the same time; as many as there are processors if not given)
#          BLAS=none (never OpenBLAS: every product is the library's own; no bench)
#          AMALGAMATION=1 (programs and tests take the library from tapegrad.c, as make amalgamation writes it)

# Builds for another processor use Debian's cross compiler, packages unpacked beside the build, and qemu-user to run programs.
ifdef ARCH
override ARCH := $(if $(filter aarch64,$(ARCH)),$(ARCH),$(error ARCH is '$(ARCH)', and can be aarch64))
CC      := $(ARCH)-linux-gnu-gcc
OBJCOPY := $(ARCH)-linux-gnu-objcopy
STRIP   := $(ARCH)-linux-gnu-strip
override BUILD := $(or $(BUILD),build)/$(ARCH)
override BLAS := none
override DEPENDENCIES := skip
SYSROOT := $(BUILD)/sysroot
override CFLAGS += -isystem $(SYSROOT)/root/usr/include
override LDFLAGS += -L$(SYSROOT)/root/usr/lib/$(ARCH)-linux-gnu -Wl,-rpath-link,$(SYSROOT)/root/usr/lib/$(ARCH)-linux-gnu
QEMU    := qemu-$(ARCH) -L $(abspath $(SYSROOT))/root
endif

VERSION := $(shell sed -n 's/.define TG_VERSION  *"\(.*\)"/\1/p' autograd/api.h)
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BINDIR  ?= $(PREFIX)/bin
DATADIR ?= $(PREFIX)/share
MANDIR  ?= $(DATADIR)/man
STRIP   ?= strip
CC      ?= cc
OBJCOPY ?= objcopy
PYTHON  ?= python3
BUILD   ?= build
BLAS    ?= openblas
MPI     ?= 0
MPICC   ?= mpicc
AMALGAMATION ?= 0
DEPENDENCIES ?= install
# Refuses unknown values: make would silently use the default instead.
one_of = $(if $(filter $(2),$($(1))),,$(error $(1) is '$($(1))', and can be one of: $(2)))
$(call one_of,DEPENDENCIES,install check skip)$(call one_of,BLAS,openblas none)$(call one_of,MPI,0 1)$(call one_of,AMALGAMATION,0 1)
export BUILD BLAS AMALGAMATION MPI MPICC CC CFLAGS LDFLAGS DEBUG SANITIZE
export TG_BUILD = $(OUT)
export TG_CC = $(CC)

comma := ,
OUT := $(BUILD)$(if $(SANITIZE),/sanitize-$(subst $(comma),-,$(SANITIZE)))$(if $(filter 1,$(DEBUG)),/debug)$(if $(filter 1,$(MPI)),/mpi)$(if $(filter 1,$(AMALGAMATION)),/one-file)

# ---- what it needs ---------------------------------------------------------
# Make looks for packages once: the library needs a compiler, programs need more, tests and benchmark more, the long check MPFR. It says
# which it is going to install, and why; then it restarts. `make install` installs the library, never a package.
GOALS := $(or $(MAKECMDGOALS),all)
LIBRARY_GOALS := lib wheel gelu-header amalgamation playground reference install-library
PROGRAM_GOALS := all tools demo install deb fingerprints $(OUT)/bin/%
NEEDS := $(OUT)/needs-$(if $(filter check-long,$(GOALS)),long,$(if $(filter-out $(LIBRARY_GOALS) $(PROGRAM_GOALS),$(GOALS))$(filter \
    $(OUT)/bin/tests $(OUT)/bin/bench,$(GOALS)),tests,$(if $(filter-out $(LIBRARY_GOALS),$(GOALS)),programs,lib)))
ifneq ($(filter playground,$(GOALS)),)
$(if $(shell command -v "$${EMCC:-emcc}" 2>&1;),,$(error make playground needs emcc: apt-get install emscripten))
endif
dry_run := $(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
ifeq ($(dry_run)$(filter skip,$(DEPENDENCIES))$(filter clean help uninstall,$(GOALS)),)
include $(NEEDS)
endif
$(NEEDS): tools/dependencies
	@tools/dependencies $(if $(filter install%,$(GOALS)),check,$(DEPENDENCIES)) $(subst $(OUT)/needs-,,$@)
	@mkdir -p $(@D) && touch $@

# ---- what is there ---------------------------------------------------------
# PATTERNS: the files, in the same order whatever the locale; the linker takes them in this order.
files = $(foreach pattern,$(1),$(sort $(wildcard $(pattern))))
# The rooms of the core, lowest first.
ROOMS := base tape reverse parameters memory inspect ops
LIBRARY_SOURCES := $(call files,$(ROOMS:%=autograd/%/*.c) autograd/gradcheck/*.c autograd/export/*.c nn/*.c nn/*/*.c nn/*/*/*.c optim/*.c) \
                   $(filter-out autograd/kernels/isa.c autograd/kernels/product_kernel.c,$(call files,autograd/kernels/*.c))
PROGRAM_SOURCES := $(call files,examples/*.c examples/programs/*.c)
COMMON_SOURCES  := $(call files,examples/programs/*/*.c plots/*.c)
ACCURACY_SOURCES := $(call files,tests/accuracy/*.c)
FINGERPRINT_SOURCES := $(call files,tests/fingerprint/*.c)
INTERVALS_SOURCES := $(call files,tests/intervals/*.c)
BENCH_SOURCES   := $(call files,tests/bench/*.c) tests/support/wrapped_memory.c
GOLDEN_SOURCES  := $(filter-out tests/golden/expected.c,$(call files,tests/golden/*.c))
TEST_SOURCES    := $(filter-out $(if $(filter none,$(BLAS)),tests/build/test_bench%.c),$(sort $(wildcard tests/main.c tests/*/test_*.c tests/support/*.c tests/gradcheck/*.c))) \
                   $(filter-out tests/golden/samples.c,$(call files,tests/golden/*.c)) \
                   $(filter-out %/libfuzzer.c,$(call files,tests/fuzz/*.c))
# A header is public if it marks what it exports (autograd/api.h).
PUBLIC_HEADERS  := $(shell grep -l '^TG_API_BEGIN' autograd/*.h nn/*.h nn/*/*.h optim/*.h) autograd/ops.def $(call files,nn/*.def nn/*/*.def optim/*.def)

ifeq ($(shell echo __SIZEOF_POINTER__ | $(CC) $(CFLAGS) -E -P - 2>/dev/null),4)
$(error tapegrad needs pointers of 64 bits, and $(CC) $(CFLAGS) compiles for 32)
endif

# Kernels are compiled once for each instruction set and floating type, and chosen when the program starts.
REALS := f32 f64
MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
ifneq ($(filter x86_64%,$(MACHINE)),)
# A build with sanitizers has the set that runs nearly everywhere beside the one that every build has: each takes minutes to compile.
ISAS := baseline v3 $(if $(SANITIZE),,v4)
endif
ISAS ?= baseline
MARCH_v3 := -march=x86-64-v3 -mprfchw
MARCH_v4 := -march=x86-64-v4 -mprfchw -mprefer-vector-width=512

# ---- how it is built -------------------------------------------------------
OPTIMISE := $(if $(filter 1,$(DEBUG)),-O1 -g -DTG_DEBUG,-O2 -g1)
WARN     := -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wvla \
            -Wno-missing-field-initializers -Wno-format-zero-length
if_known = $(shell $(CC) -Werror $(1) -x c -c /dev/null -o /dev/null 2>/dev/null && echo $(1))
# Objects have the same bytes whichever folder they are built in: this removes the folder's name from them (tests/reproducible.sh).
SAME_EVERYWHERE := $(if $(call if_known,-ffile-prefix-map=a=b),-ffile-prefix-map="$$PWD"=.)
ALL_CFLAGS = -std=c11 $(OPTIMISE) $(WARN) $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all) \
             -ffp-contract=off -fPIC -fvisibility=hidden $(SAME_EVERYWHERE) -I. -I$(OUT)/include $(CFLAGS)
# Vectorised loops around a sanitizer's checks are slow to compile, and no faster.
KERNEL_CFLAGS := $(if $(SANITIZE),-O1,-O3) $(call if_known,-fno-tree-pre) $(call if_known,-fschedule-insns -fsched-pressure) \
                 $(call if_known,-Wno-pass-failed) $(call if_known,-Wno-psabi) -fno-math-errno -fno-trapping-math -Wno-unused-function \
                 -Wno-unknown-pragmas -fopenmp-simd
ALL_LDFLAGS = -pthread $(if $(SANITIZE),-fsanitize=$(SANITIZE)) $(LDFLAGS)

PKG = $(shell pkg-config $(1) $(2) 2>/dev/null)
# The library loads OpenBLAS at run time, on request. Only the benchmarks that compare against OpenBLAS link it.
ifeq ($(BLAS),openblas)
BLAS_CFLAGS := $(call PKG,--cflags,openblas)
BLAS_LIBS   := $(or $(call PKG,--libs,openblas),-lopenblas)
LOADS       := $(if $(shell echo 'int main(void) { return 0; }' | $(CC) -x c - -o /dev/null -ldl 2>/dev/null && echo 1),-ldl)
endif
ifeq ($(MPI),1)
MPI_SHOWN   := $(shell $(MPICC) -show)
MPI_CFLAGS  := -DTG_MPI $(filter -I% -D%,$(MPI_SHOWN))
MPI_LIBS    := $(filter -L% -l% -Wl%,$(MPI_SHOWN))
endif
PROGRAM_LIBS = -ldl -lz $(call PKG,--libs,jansson) $(MPI_LIBS)
# build/bin/accuracy measures functions of others by MPFR, where that is installed.
MPFR_LIBS    := $(shell printf '\043include <mpfr.h>\nint main(void) { return !mpfr_get_version(); }' | \
                  $(CC) $(CFLAGS) -x c - -o /dev/null $(LDFLAGS) -lmpfr -lgmp 2>/dev/null && echo -lmpfr -lgmp)
CHECK_LIBS   = $(call PKG,--libs,check) $(MPFR_LIBS)

objects = $(patsubst %.c,$(OUT)/obj/%.o,$(1))
KERNEL_OBJECTS  := $(foreach file,isa product_kernel,$(foreach isa,$(ISAS),$(REALS:%=$(OUT)/obj/autograd/kernels/$(file)-$(isa)-%.o)))
LIBRARY_OBJECTS := $(if $(filter 1,$(AMALGAMATION)),$(OUT)/amalgamation/tapegrad.o,$(call objects,$(LIBRARY_SOURCES)) $(KERNEL_OBJECTS))
COMMON_OBJECTS  := $(call objects,$(COMMON_SOURCES))
ACCURACY_OBJECTS := $(call objects,$(filter-out %/main.c,$(ACCURACY_SOURCES)))
FINGERPRINT_OBJECTS := $(call objects,$(filter-out %/main.c,$(FINGERPRINT_SOURCES)))
INTERVALS_OBJECTS := $(call objects,$(filter-out %/main.c,$(INTERVALS_SOURCES)))
PROGRAMS        := $(addprefix $(OUT)/bin/,$(basename $(notdir $(PROGRAM_SOURCES)))) $(OUT)/bin/accuracy $(OUT)/bin/fingerprint
BENCH           := $(if $(filter openblas,$(BLAS)),$(OUT)/bin/bench)
STATIC := $(OUT)/libtapegrad.a
SHARED := $(OUT)/libtapegrad.so
UMBRELLA := $(OUT)/include/tapegrad.h

.PHONY: all lib amalgamation gelu-header playground reference check check-all check-long check-playground check-faults check-matrix coverage coverage-here demo bench golden fingerprints fuzz fuzz-here deb wheel tools install install-library uninstall clean help
.DEFAULT_GOAL := all
MAKEFLAGS += --no-builtin-rules
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif
quietly = $(if $(V),,@echo "  $(1)  $@";)
LINK :=
LIBS :=
define link
	@mkdir -p $(@D)
	$(call quietly,LD)$(CC) $(ALL_LDFLAGS) $(LINK) -o $@ $(filter %.o %.a %.so,$^) $(LIBS) $(LOADS) -lm
	$(if $(filter $(OUT)/bin/%,$@),$(EMULATED))
endef
# A program for another processor is moved aside; a script of the same name runs it under QEMU.
HASH := \#
EMULATED = $(if $(QEMU),@mv $@ $@.$(ARCH) && printf '$(HASH)!/bin/sh\nexec $(QEMU) "$(abspath $@).$(ARCH)" "$$@"\n' > $@ && chmod +x $@)
.DELETE_ON_ERROR:
.SECONDARY:

all: lib $(PROGRAMS)
lib: $(STATIC) $(SHARED)

# The file $(OUT)/flags holds the flags of the last build. When they change, everything is built again.
FLAGS := $(CC) $(ALL_CFLAGS) $(KERNEL_CFLAGS) $(ISAS) $(ALL_LDFLAGS) $(BLAS) $(LOADS) $(BLAS_LIBS) $(MPFR_LIBS) $(VERSION) $(PUBLIC_HEADERS)
ifneq ($(strip $(file < $(OUT)/flags)),$(strip $(FLAGS)))
.PHONY: $(OUT)/flags
endif
$(OUT)/flags: export WRITTEN = $(FLAGS)
$(OUT)/flags: Makefile
	@mkdir -p $(@D) && printf '%s\n' "$$WRITTEN" > $@

$(OUT)/obj/%.o: %.c $(OUT)/flags | $(UMBRELLA)
	@mkdir -p $(@D)
	$(call quietly,CC)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(OUT)/obj/autograd/kernels/isa-%.o: autograd/kernels/isa.c $(OUT)/flags
	@mkdir -p $(@D)
	$(call quietly,CC)$(CC) $(ALL_CFLAGS) $(KERNEL_CFLAGS) $(MARCH_$(firstword $(subst -, ,$*))) \
	    -DTG_REAL_$(lastword $(subst -, ,$*)) -DTG_KERNEL_TABLE=tg_kernels_$(subst -,_,$*) -MMD -MP -c -o $@ $<

# Matrix products sum by fused multiply-adds where the processor has them. At -O1, where sanitizers are, GCC forms them only if asked.
REAL_f32 := float
REAL_f64 := double
# Except on x86, GCC schedules instructions before it allocates registers. A tile's sums fill all registers, so that scheduling
# would spill one of them to memory in each step.
PRODUCT_CFLAGS := -ffp-contract=fast $(call if_known,-fexpensive-optimizations) $(call if_known,-fno-schedule-insns)
# UndefinedBehaviorSanitizer's checks of an unrolled tile take compilers minutes a file.
PRODUCT_CFLAGS += $(if $(findstring undefined,$(SANITIZE)),-fno-sanitize=undefined)
$(OUT)/obj/autograd/kernels/product_kernel-%.o: autograd/kernels/product_kernel.c $(OUT)/flags
	@mkdir -p $(@D)
	$(call quietly,CC)$(CC) $(ALL_CFLAGS) $(KERNEL_CFLAGS) $(PRODUCT_CFLAGS) $(MARCH_$(firstword $(subst -, ,$*))) \
	    -DTG_ISA=$(firstword $(subst -, ,$*)) -DTG_TYPE=$(lastword $(subst -, ,$*)) -DTG_REAL=$(REAL_$(lastword $(subst -, ,$*))) \
	    -MMD -MP -c -o $@ $<

$(OUT)/obj/autograd/kernels/kernels.o: ALL_CFLAGS += $(foreach isa,$(ISAS),-DTG_HAVE_ISA_$(isa))
# GCC would load two pointer arguments as one vector right after they were stored one by one. The load waits until both stores reach
# the cache, which costs a tenth of a small operation's time.
$(call objects,$(wildcard $(ROOMS:%=autograd/%/*.c))): ALL_CFLAGS += $(call if_known,-fno-tree-slp-vectorize)
$(OUT)/obj/nn/fit/shards.o $(OUT)/obj/nn/saved/predictor.o $(OUT)/obj/optim/optimizers.o: ALL_CFLAGS += -O3 -fno-math-errno -fno-trapping-math
$(OUT)/obj/examples/programs/run/team.o: ALL_CFLAGS += $(MPI_CFLAGS)
$(OUT)/obj/examples/% $(OUT)/obj/plots/% $(OUT)/obj/tests/%: ALL_CFLAGS += -D_GNU_SOURCE
$(OUT)/obj/tests/bench/%: ALL_CFLAGS += $(BLAS_CFLAGS)
$(OUT)/obj/autograd/kernels/product.o $(OUT)/obj/tests/main.o $(OUT)/obj/tests/programs/test_programs.o: ALL_CFLAGS += $(if $(filter none,$(BLAS)),-DTG_NO_BLAS)

# The kernels' sources as text, for exported C.
PIECES := $(OUT)/include/autograd/export/pieces.inc
PIECES_OF := autograd/export/plain.inc autograd/kernels/real.h \
             $(addprefix autograd/kernels/,$(addsuffix .inc,coefficients math functions gelu activation elementwise reduce index rows \
               recurrent cross_entropy random optimizer)) autograd/export/operations.inc
$(PIECES): autograd/export/pieces.awk $(PIECES_OF) $(OUT)/flags
	@mkdir -p $(@D)
	$(call quietly,AWK)awk -f autograd/export/pieces.awk $(PIECES_OF) > $@
$(OUT)/obj/autograd/export/pieces.o: $(PIECES)

# The header users include: every public header, in the order of the rooms.
$(UMBRELLA): $(OUT)/flags
	@mkdir -p $(@D)
	@{ echo '/* tapegrad $(VERSION): the whole library. Made by the Makefile. */'; \
	   echo '#ifndef TAPEGRAD_H'; echo '#define TAPEGRAD_H'; \
	   for header in $(filter %.h,$(PUBLIC_HEADERS)); do echo "#include \"$$header\""; done; \
	   echo '#endif'; } > $@

# The library as one file, and the compiler options for a program that includes it (docs/install.md).
AMALGAMATION_CFLAGS := -O3 -ffp-contract=off -fopenmp-simd -fno-math-errno -fno-trapping-math
amalgamation: $(OUT)/amalgamation$(PARTS:%=-%)/tapegrad.c
AMALGAMATED := tools/amalgamation LICENSE $(shell find autograd nn optim -name '*.[chd]*' -o -name '*.inc')
$(OUT)/amalgamation/tapegrad.c: $(AMALGAMATED) $(PIECES) $(OUT)/flags
	$(call quietly,GEN)PARTS= PUBLIC_HEADERS='$(PUBLIC_HEADERS)' GENERATED='$(OUT)/include' VERSION='$(VERSION)' tools/amalgamation $(@D) $(LIBRARY_SOURCES)
$(OUT)/amalgamation-%/tapegrad.c: $(AMALGAMATED) tools/parts $(PIECES) $(OUT)/flags
	$(call quietly,GEN)PARTS=$* PUBLIC_HEADERS='$(PUBLIC_HEADERS)' GENERATED='$(OUT)/include' VERSION='$(VERSION)' tools/amalgamation $(@D) $(LIBRARY_SOURCES)
$(OUT)/amalgamation/tapegrad.o: $(OUT)/amalgamation/tapegrad.c
	$(call quietly,CC)$(CC) $(AMALGAMATION_CFLAGS) -g -fPIC $(if $(SANITIZE),-fsanitize=$(SANITIZE)) $(if $(filter none,$(BLAS)),-DTG_NO_BLAS) \
	    $(CFLAGS) -c -o $@ $<

# The library and examples/programs/playground as one page: docs/playground.md.
playground: $(OUT)/playground.html
$(OUT)/playground.html: $(OUT)/amalgamation/tapegrad.c $(wildcard examples/programs/playground/* examples/programs/data/*)
	$(call quietly,GEN)examples/programs/playground/build.sh $(OUT)/amalgamation $@

reference: $(OUT)/reference.html
$(OUT)/reference.html: tools/reference $(PUBLIC_HEADERS) $(OUT)/flags
	$(call quietly,GEN)tools/reference $(VERSION) $(filter-out %/deprecated.h,$(filter %.h,$(PUBLIC_HEADERS))) > $@

# With link-time optimisation this makes `ld -r` generate machine code: objcopy cannot hide names before that.
NO_LTO := $(shell $(CC) -flinker-output=nolto-rel -r -nostdlib -x c /dev/null -o /dev/null 2>/dev/null && echo -flinker-output=nolto-rel)
# The archive holds one object, whose internal names are local. An archive of several objects would expose the names they share.
$(STATIC): $(LIBRARY_OBJECTS) $(OUT)/flags
	@rm -f $@
	$(call quietly,AR)$(CC) $(filter-out --coverage,$(CFLAGS)) $(NO_LTO) -r -nostdlib -o $(OUT)/tapegrad.o $(filter %.o,$^) && \
	    $(OBJCOPY) --localize-hidden $(OUT)/tapegrad.o && ar rcsD $@ $(OUT)/tapegrad.o

# nodelete: the library stays in memory after dlclose, because its threads still run its code.
$(SHARED): LINK = -shared -Wl,-soname,libtapegrad.so.0 -Wl,-z,nodelete
$(SHARED): $(LIBRARY_OBJECTS) $(OUT)/flags
	$(link)
	@ln -sf $(@F) $@.0

# Programs look for the plotting scripts and the studies in the folders above their own; the links make them found wherever BUILD is.
$(OUT)/plots:
	@mkdir -p $(@D) && ln -sfn "$$PWD/plots" $@
$(OUT)/studies:
	@mkdir -p $(@D) && ln -sfn "$$PWD/examples/studies" $@

# Programs link a library that users link, and can reach only its public functions: here the shared one, found beside them, so that a
# change of the library links twenty programs at once; installed programs contain theirs. Counters of lines (make coverage) are written
# for a program as a whole.
LINKED := $(if $(findstring --coverage,$(LDFLAGS)),$(STATIC),$(SHARED))
$(PROGRAMS) $(BENCH): | $(OUT)/plots $(OUT)/studies
$(OUT)/bin/% $(OUT)/install/%: LIBS = $(PROGRAM_LIBS)
$(OUT)/bin/%: LINK = -Wl,-rpath,'$$ORIGIN/..'
$(OUT)/bin/%: $(OUT)/obj/examples/programs/%.o $(COMMON_OBJECTS) $(LINKED) $(OUT)/flags
	$(link)
$(OUT)/bin/%: $(OUT)/obj/examples/%.o $(COMMON_OBJECTS) $(LINKED) $(OUT)/flags
	$(link)
$(OUT)/install/%: $(OUT)/obj/examples/programs/%.o $(COMMON_OBJECTS) $(STATIC) $(OUT)/flags
	$(link)

# -rdynamic: operations that gradcheck loads (--load) call the library's functions inside the program.
$(OUT)/bin/gradcheck $(OUT)/install/gradcheck: LINK += -rdynamic

# The benchmark counts the library's allocations, and tests make the n-th one fail (tests/support/wrapped_memory.h). Tests also split
# parallel work into small pieces (tests/support/cut_finely.h), pretend to be a terminal (tests/support/pseudo_terminal.c) and make fclose
# fail (tests/nn/test_safetensors.c).
$(OUT)/bin/bench $(OUT)/bin/tests: LINK = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc
$(OUT)/bin/tests: LINK += -Wl,--wrap=tg_parallel,--wrap=isatty,--wrap=ioctl,--wrap=fclose

# The benchmark's hand-written loops are compiled for this machine's processor, as a user would compile a program of his own.
FLOOR_CFLAGS := -O3 $(call if_known,-march=native) -ffp-contract=fast -fno-math-errno -fno-trapping-math \
                $(call if_known,-Wno-pass-failed) -fopenmp-simd
$(OUT)/obj/tests/bench/floor.o: ALL_CFLAGS += $(FLOOR_CFLAGS)
$(OUT)/obj/tests/bench/machine.o: ALL_CFLAGS += -O3 -ffp-contract=fast

$(OUT)/bin/bench: LIBS = $(PROGRAM_LIBS) $(BLAS_LIBS)
$(OUT)/bin/bench: $(call objects,$(BENCH_SOURCES)) $(COMMON_OBJECTS) $(LIBRARY_OBJECTS) $(OUT)/flags
	$(link)

$(OUT)/bin/fingerprint: LIBS =
# How often the intervals of a comparison cover the truth: docs/comparing.md.
$(OUT)/bin/intervals: LIBS = $(PROGRAM_LIBS)
$(OUT)/bin/intervals: $(call objects,$(INTERVALS_SOURCES)) $(COMMON_OBJECTS) $(LIBRARY_OBJECTS) $(OUT)/flags
	$(link)

$(OUT)/bin/fingerprint: $(call objects,$(FINGERPRINT_SOURCES)) $(LIBRARY_OBJECTS) $(OUT)/flags
	$(link)
$(OUT)/obj/tests/accuracy/exact.o: ALL_CFLAGS += $(if $(MPFR_LIBS),-DTG_MPFR)
$(OUT)/bin/accuracy: LIBS = $(PROGRAM_LIBS) $(MPFR_LIBS)
$(OUT)/bin/accuracy: $(call objects,$(ACCURACY_SOURCES)) $(COMMON_OBJECTS) $(LIBRARY_OBJECTS) $(OUT)/flags
	$(link)

FLOOR_OBJECTS := $(if $(filter openblas,$(BLAS)),$(call objects,$(addprefix tests/bench/,floor.c nets.c step.c kernel_work.c)))

$(OUT)/bin/tests: LIBS = $(CHECK_LIBS) $(PROGRAM_LIBS) $(BLAS_LIBS)
$(OUT)/bin/tests: $(call objects,$(TEST_SOURCES)) $(FLOOR_OBJECTS) $(ACCURACY_OBJECTS) $(FINGERPRINT_OBJECTS) $(INTERVALS_OBJECTS) $(COMMON_OBJECTS) $(LIBRARY_OBJECTS) \
                  $(OUT)/flags $(OUT)/environment | $(BENCH) $(OUT)/amalgamation/tapegrad.c $(OUT)/reference.html
	$(link)

$(OUT)/bin/golden-samples: $(call objects,$(GOLDEN_SOURCES)) $(LIBRARY_OBJECTS) $(OUT)/flags
	$(link)

# Checks that trainings give the same bytes with every compiler and processor that this machine has or emulates.
fingerprints: $(OUT)/bin/fingerprint
	tests/fingerprint/everywhere.sh $(OUT)/fingerprints

# Computes the expected results of the operations' samples independently, in Python. The results are committed; run this after you add
# an operation or a sample.
golden: $(OUT)/bin/golden-samples
	$< > $(OUT)/golden-samples.json
	$(PYTHON) tests/golden/make_golden.py < $(OUT)/golden-samples.json

# The sanitizer's allocator aborts on too large a request unless told to return NULL, which our tests expect. It also keeps freed
# memory: in the process that waits for the tests this would grow to hundreds of megabytes, which each test would search for leaks.
# libcheck's limit of 4 seconds a test would fail on a loaded machine; ours is only there to end endless loops.
export CK_DEFAULT_TIMEOUT ?= 400
export ASAN_OPTIONS ?= allocator_may_return_null=1:quarantine_size_mb=8
export TSAN_OPTIONS ?= allocator_may_return_null=1

# Tests started by hand read from this file the variables that are not set.
$(OUT)/environment: $(OUT)/flags
	@for name in BUILD BLAS AMALGAMATION MPI CC CFLAGS LDFLAGS DEBUG SANITIZE TG_BUILD TG_CC CK_DEFAULT_TIMEOUT ASAN_OPTIONS TSAN_OPTIONS; do \
	    echo "$$name=$$(printenv $$name)"; done > $@

# The file `checked` is as old as the last check-all that passed; `check` names what has changed since then that check-all covers.
check: all $(OUT)/bin/tests
	@$(if $(SUITES),,tests/covered.sh $(OUT)/checked)
	$(OUT)/bin/tests $(SUITES)
# Debian's, for which NumPy and SciPy are packages.
ORACLE ?= $(firstword $(wildcard /usr/bin/python3) $(PYTHON))
check-all: all $(OUT)/bin/tests
	$(OUT)/bin/tests all
	$(ORACLE) tests/oracle/run.py $(OUT)/bin 500 1
	$(ORACLE) tests/oracle/troubles.py $(OUT)/bin 300 1
	$(ORACLE) tests/oracle/measures.py $(OUT)/bin 200 1
	$(ORACLE) tests/oracle/continued.py $(OUT)/bin 200 1
	@touch $(OUT)/checked

# The library needs no package.
ifdef ARCH
$(SYSROOT)/complete: tests/sysroot.sh
	tests/sysroot.sh arm64 $(SYSROOT)
$(COMMON_OBJECTS) $(call objects,$(PROGRAM_SOURCES) $(ACCURACY_SOURCES) $(TEST_SOURCES)): | $(SYSROOT)/complete
endif

# clang compiles everything with the fuzzer's coverage and the sanitizers. New inputs stay in $(OUT)/corpus for the next run; an input
# that fails goes to $(OUT)/failed. Once it is fixed, it gets a line in tests/fuzz/seeds.txt.
FUZZ_SECONDS ?= 60
FUZZ ?= $(shell sed -n 's/^FUZZ_TARGET.\([a-z]*\),.*/\1/p' tests/fuzz/targets.def)
CLANG ?= clang
FUZZ_SANITIZE := fuzzer-no-link,address,undefined
fuzz:
	$(MAKE) fuzz-here CC='$(CLANG)' SANITIZE=$(FUZZ_SANITIZE)

# The high malloc limit lets a reader ask for more memory than there is: it must handle the refusal.
fuzz-here: $(OUT)/bin/fuzz
	@grep -v '^#' tests/fuzz/seeds.txt | while read -r target name bytes; do \
	    mkdir -p $(OUT)/seeds/$$target && printf '%b' "$$bytes" > $(OUT)/seeds/$$target/$$name || exit; done
	for target in $(FUZZ); do mkdir -p $(OUT)/corpus/$$target $(OUT)/failed && echo "---- $$target" && \
	    FUZZ_TARGET=$$target $(OUT)/bin/fuzz -max_total_time=$(FUZZ_SECONDS) -timeout=60 -rss_limit_mb=4000 -malloc_limit_mb=100000 \
	        -verbosity=0 -print_final_stats=1 -artifact_prefix=$(OUT)/failed/$$target- $(OUT)/corpus/$$target $(OUT)/seeds/$$target || exit; done

$(OUT)/bin/fuzz: LINK = -fsanitize=fuzzer
$(OUT)/bin/fuzz: LIBS = $(PROGRAM_LIBS)
$(OUT)/bin/fuzz: $(call objects,$(wildcard tests/fuzz/*.c) tests/support/cross_program.c tests/support/cross_failures.c) $(COMMON_OBJECTS) $(LIBRARY_OBJECTS) $(OUT)/flags
	$(link)

# Needs MPFR and clang too, and takes three hours on two processors: all four quarters of what .ci/run runs in turn, 1,000 seeds, every
# float through GELU and SiLU (other kernels by name), ten million doubles, ten minutes for each fuzz target, and the same bytes from
# two folders. As root, with debootstrap installed, it also runs the documented installation in an empty Debian.
check-long: all $(OUT)/bin/tests $(OUT)/bin/against-mpfr $(OUT)/bin/intervals
	MAKEFLAGS= .ci/run whole
	TG_LONG=1 CK_TIMEOUT_MULTIPLIER=100 $(OUT)/bin/tests all
	$(OUT)/bin/accuracy --exhaustive
	tests/accuracy/gelu_header.sh $(OUT) --every 20
	CFLAGS='-O2 $(MARCH_v3)' tests/accuracy/gelu_header.sh $(OUT) --every 20
	$(OUT)/bin/intervals
	/usr/bin/python3 tests/oracle/advice.py $(OUT)/bin 10
	$(OUT)/bin/against-mpfr
	tests/gradcheck/bindings.sh $(OUT)
	$(MAKE) check-playground
	$(MAKE) fuzz FUZZ_SECONDS=600
	tests/reproducible.sh $(OUT)/reproducible
	tests/install_chroot.sh $(OUT)/debian || [ $$? = 77 ]

# Runs headless Chromium; skipped where a tool is missing.
check-playground: $(OUT)/bin/tests
	@for tool in emcc chromium python3; do \
	    command -v $$tool > /dev/null || { echo "check-playground: skipped, for there is no $$tool"; exit 0; }; done; \
	$(MAKE) playground && TG_PLAYGROUND='$(OUT)/playground.html' $(OUT)/bin/tests playground playground_page

# FAULTS: how many calls of each kind are tried in each program, spread over all.
FAULTS ?= 200
check-faults: all
	tests/faults/run.sh $(OUT) $(FAULTS)

# ROWS: "O0 lto clang"; all if not given. Some take half an hour.
check-matrix: all $(OUT)/bin/tests
	tests/matrix.sh $(OUT) $(ROWS)

# Runs in a build folder of its own. TG_CC compiles the tests' own programs, which link the library. What only runs when a call fails
# counts too: of each kind, FAULTS_COVERED calls in each program.
FAULTS_COVERED ?= 40
coverage:
	mkdir -p $(BUILD)/coverage && $(CC) -fPIC -c -o $(BUILD)/coverage/counters.o tests/counters.c
	CK_DEFAULT_TIMEOUT=600 $(MAKE) coverage-here BUILD=$(BUILD)/coverage DEPENDENCIES=skip TG_CC='$(CC) --coverage' \
	    CFLAGS='--coverage -fprofile-update=atomic' LDFLAGS='--coverage -Wl,--wrap=_exit $(abspath $(BUILD)/coverage/counters.o)'
coverage-here: all $(OUT)/bin/tests
	find $(OUT)/obj -name '*.gcda' -delete
	$(OUT)/bin/tests $(or $(SUITES),all)
	$(if $(SUITES),,tests/faults/run.sh $(OUT) $(FAULTS_COVERED))
	tests/coverage.sh $(OUT)

$(OUT)/bin/against-mpfr: LIBS = $(PROGRAM_LIBS) $(MPFR_LIBS)
$(OUT)/bin/against-mpfr: $(call objects,$(wildcard tests/mpfr/*.c)) $(ACCURACY_OBJECTS) $(COMMON_OBJECTS) $(LIBRARY_OBJECTS) $(OUT)/flags
	$(link)

PEERS := --peers $(if $(filter command% environment%,$(origin PYTHON)),--python $(PYTHON))

# The figures go to files, the progress to the terminal.
bench: $(OUT)/bin/bench
	@mkdir -p $(OUT)/bench
	$(OUT)/bin/bench $(PEERS) $(JAX_PYTHON:%=--jax-python %) --csv > $(OUT)/bench/steps.csv
	$(OUT)/bin/bench --kernels $(PEERS) --csv > $(OUT)/bench/kernels.csv
	$(OUT)/bin/bench --products --threads 1 --csv > $(OUT)/bench/products.csv
	for picture in bench kernels products; do gnuplot -e "dir='$(OUT)/bench'" plots/$$picture.gp || exit; done
	@echo "The figures: $(OUT)/bench/steps.csv, kernels.csv and products.csv; drawn: .png and .svg beside them."

demo: all
	$(OUT)/bin/compare --data glyphs --activations relu,gelu_exact,silu,swiglu --seeds 3 --epochs 8 --out $(OUT)/demo
	@echo
	@echo "The curves: $(OUT)/demo/loss.png and accuracy.png; the numbers: $(OUT)/demo/summary.csv."
	@echo "Next: $(OUT)/bin/activations --out $(OUT)/demo, or your own data:"
	@echo "      $(OUT)/bin/compare --data csv:FILE --activations relu,gelu_exact --seeds 5   (more with --help)"

clean:
	rm -rf $(BUILD)

# ---- installing ------------------------------------------------------------
# `install` installs library and programs; `install-library` installs the library alone, which needs no other package. Both strip
# debugging information: STRIP= keeps it, DEBUGFILES=1 puts it into separate files.
TOOLS := activations compare emit gradcheck predict study train
put = @OUT='$(OUT)' VERSION='$(VERSION)' PUBLIC_HEADERS='$(PUBLIC_HEADERS)' PRIVATE_LIBS='$(strip $(LOADS) -lm -pthread)' TOOLS='$(TOOLS)' \
    DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' INCLUDEDIR='$(INCLUDEDIR)' BINDIR='$(BINDIR)' MANDIR='$(MANDIR)' \
    DATADIR='$(DATADIR)' STRIP='$(STRIP)' OBJCOPY='$(OBJCOPY)' DEBUGFILES='$(DEBUGFILES)' tools/install $(1)
tools: lib $(TOOLS:%=$(OUT)/bin/%) $(TOOLS:%=$(OUT)/install/%)
install: tools
	$(call put,install all)
install-library: lib
	$(call put,install library)
uninstall:
	$(call put,uninstall all)

# Builds the Debian packages in a copy of the tree, without the variables that this Makefile exports. It skips the tests;
# DEB_BUILD_OPTIONS= runs make check there too.
DEB_BUILD_OPTIONS ?= nocheck
deb:
	rm -rf $(OUT)/deb && mkdir -p $(OUT)/deb/tapegrad-$(VERSION)
	cp -r Makefile CMakeLists.txt LICENSE README.md tools autograd nn optim examples plots tests docs $(OUT)/deb/tapegrad-$(VERSION)
	cp -r tools/debian $(OUT)/deb/tapegrad-$(VERSION)
	cd $(OUT)/deb/tapegrad-$(VERSION) && env -i PATH="$$PATH" HOME="$$HOME" \
	    DEB_BUILD_OPTIONS='$(DEB_BUILD_OPTIONS)' DEB_BUILD_PROFILES='$(filter nocheck,$(DEB_BUILD_OPTIONS))' dpkg-buildpackage -us -uc -b
	@ls $(OUT)/deb/*.deb

# The gradient checker as a package for Python: pip install the file that is named.
wheel: $(OUT)/libtapegrad.so
	tools/wheel '$(VERSION)' $< examples/gradcheck/tapegrad.py LICENSE $(OUT)/wheel

gelu-header: $(OUT)/gelu.h
	cp $< autograd/kernels/gelu.h
$(OUT)/gelu.h: autograd/kernels/gelu_header.py autograd/kernels/gelu_header.inc autograd/kernels/coefficients.inc autograd/kernels/real.h LICENSE
	@mkdir -p $(@D)
	$(PYTHON) $< > $@.part && mv $@.part $@

help:
	@sed -n '/^$$/q; s/^# \{0,1\}//p' Makefile

$(OUT)/obj/%.d: ;
-include $(shell find $(OUT)/obj -name '*.d' 2>/dev/null)
