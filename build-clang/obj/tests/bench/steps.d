build-clang/obj/tests/bench/steps.o: tests/bench/steps.c \
  tests/bench/steps.h tests/bench/allocations.h tests/bench/blas.h \
  tests/bench/floor.h tests/bench/nets.h build-clang/include/tapegrad.h \
  autograd/arena.h autograd/grad.h autograd/tape.h autograd/tensor.h \
  autograd/op.h autograd/ops.h autograd/rng.h autograd/ops.def \
  autograd/parameters.h autograd/text.h nn/activation.h nn/dead_units.h \
  nn/mlp.h nn/hidden_layer.h nn/init.h nn/linear.h nn/dropout.h \
  nn/feed_forward.h optim/optimizer.h optim/schedule.h \
  tests/bench/peer.h tests/bench/race.h tests/bench/step.h

tests/bench/steps.h:

tests/bench/allocations.h:

tests/bench/blas.h:

tests/bench/floor.h:

tests/bench/nets.h:

build-clang/include/tapegrad.h:

autograd/arena.h:

autograd/grad.h:

autograd/tape.h:

autograd/tensor.h:

autograd/op.h:

autograd/ops.h:

autograd/rng.h:

autograd/ops.def:

autograd/parameters.h:

autograd/text.h:

nn/activation.h:

nn/dead_units.h:

nn/mlp.h:

nn/hidden_layer.h:

nn/init.h:

nn/linear.h:

nn/dropout.h:

nn/feed_forward.h:

optim/optimizer.h:

optim/schedule.h:

tests/bench/peer.h:

tests/bench/race.h:

tests/bench/step.h:
