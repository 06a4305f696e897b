build-clang/obj/examples/common/dataset.o: examples/common/dataset.c \
  examples/common/dataset_internal.h examples/common/dataset.h \
  autograd/rng.h

examples/common/dataset_internal.h:

examples/common/dataset.h:

autograd/rng.h:
