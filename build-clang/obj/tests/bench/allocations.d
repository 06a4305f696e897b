build-clang/obj/tests/bench/allocations.o: tests/bench/allocations.c \
  tests/bench/allocations.h

tests/bench/allocations.h:
