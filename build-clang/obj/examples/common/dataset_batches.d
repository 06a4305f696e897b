build-clang/obj/examples/common/dataset_batches.o: \
  examples/common/dataset_batches.c autograd/rng.h \
  examples/common/dataset_internal.h examples/common/dataset.h

autograd/rng.h:

examples/common/dataset_internal.h:

examples/common/dataset.h:
