build-clang/obj/examples/common/accuracy.o: examples/common/accuracy.c \
  examples/common/accuracy.h autograd/kernels/kernels.h \
  autograd/kernels/kernels.def examples/common/reference.h \
  examples/common/accuracy_measure.inc

examples/common/accuracy.h:

autograd/kernels/kernels.h:

autograd/kernels/kernels.def:

examples/common/reference.h:

examples/common/accuracy_measure.inc:
