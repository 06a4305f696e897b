/* tapegrad 0.1.0: the whole library. Made by the Makefile. */
#ifndef TAPEGRAD_H
#define TAPEGRAD_H
#include "autograd/arena.h"
#include "autograd/grad.h"
#include "autograd/op.h"
#include "autograd/ops.h"
#include "autograd/parameters.h"
#include "autograd/rng.h"
#include "autograd/tape.h"
#include "autograd/tensor.h"
#include "autograd/text.h"
#include "nn/activation.h"
#include "nn/dead_units.h"
#include "nn/dropout.h"
#include "nn/feed_forward.h"
#include "nn/hidden_layer.h"
#include "nn/init.h"
#include "nn/linear.h"
#include "nn/mlp.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#endif
