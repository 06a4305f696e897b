/* The kernels that `bench --kernels` times: how each is called, on shared arrays.
 *
 *     kernel_data *data = kernel_data_new(16384);
 *     const kernel_work *work = kernel_work_find("gelu_exact");
 *     work->forward(data);                                   // y = gelu_exact(x)
 *     work->keep(data), work->backward(data);                // y and the slope; dx = slope times cotangent
 */
#ifndef BENCH_KERNEL_WORK_H
#define BENCH_KERNEL_WORK_H

#include <tapegrad.h>

/* Row-wise kernels get n / KERNEL_COLUMNS rows. */
enum { KERNEL_COLUMNS = 128 };

typedef struct kernel_data {
    size_t n;
    float *x, *second, *cotangent;   /* [n], read: normal numbers; uniform in [0.1, 1]; normal numbers */
    float *y, *slope, *dx, *dsecond; /* [n], written */
    int32_t *labels;                 /* [n / KERNEL_COLUMNS], each less than KERNEL_COLUMNS */
    void *block;                     /* all of them */
} kernel_data;

/* Allocates arrays for this many elements; n may be reduced afterwards. NULL if out of memory. */
kernel_data *kernel_data_new(size_t n);
void kernel_data_free(kernel_data *data);

typedef void (*kernel_call)(const kernel_data *data);

typedef struct kernel_work {
    const char *name;
    kernel_call forward;                      /* when no gradient is wanted */
    kernel_call keep;                         /* the tape's forward kernel before a backward pass; may be NULL */
    kernel_call backward;                     /* the tape's backward kernel; may be NULL */
    tg_tensor (*record)(const tg_tensor *in); /* the public operation on x and second; may be NULL */
} kernel_work;

/* Kernel number `index`, NULL past the end; and by name, NULL if there is none. The first two are copy and relu. */
const kernel_work *kernel_work_at(int index);
const kernel_work *kernel_work_find(const char *name);

#endif
