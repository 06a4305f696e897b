build-clang/obj/autograd/kernels/isa-baseline.o: autograd/kernels/isa.c \
  autograd/kernels/kernels.h autograd/kernels/kernels.def \
  autograd/kernels/families.inc autograd/kernels/coefficients.inc \
  autograd/kernels/math.inc autograd/kernels/elementwise.inc \
  autograd/kernels/reduce.inc autograd/kernels/functions.inc \
  autograd/kernels/gelu.inc autograd/kernels/activation.inc \
  autograd/kernels/gated.inc autograd/kernels/rows.inc \
  autograd/kernels/cross_entropy.inc autograd/kernels/random.inc \
  autograd/kernels/optimizer.inc autograd/kernels/backward.inc

autograd/kernels/kernels.h:

autograd/kernels/kernels.def:

autograd/kernels/families.inc:

autograd/kernels/coefficients.inc:

autograd/kernels/math.inc:

autograd/kernels/elementwise.inc:

autograd/kernels/reduce.inc:

autograd/kernels/functions.inc:

autograd/kernels/gelu.inc:

autograd/kernels/activation.inc:

autograd/kernels/gated.inc:

autograd/kernels/rows.inc:

autograd/kernels/cross_entropy.inc:

autograd/kernels/random.inc:

autograd/kernels/optimizer.inc:

autograd/kernels/backward.inc:
