/* tapegrad 0.1.0: the whole library. Made by the Makefile. */
#ifndef TAPEGRAD_H
#define TAPEGRAD_H
#include "autograd/arena.h"
#include "autograd/grad.h"
#include "autograd/op.h"
#include "autograd/ops.h"
#include "autograd/rng.h"
#include "autograd/tape.h"
#include "autograd/tensor.h"
#include "autograd/text.h"
#endif
