build-clang/obj/tests/bench/main.o: tests/bench/main.c \
  examples/common/options.h tests/bench/blas.h tests/bench/steps.h

examples/common/options.h:

tests/bench/blas.h:

tests/bench/steps.h:
