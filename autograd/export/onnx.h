/* A program as nodes of ONNX. Internal.
 *
 *     tg_onnx o = {.w = &w, .to = &text};
 *     tg_onnx_put(&o, value, "Mul(v3, Sigmoid(v3))");      // nodes of which the last one's result is the value
 */
#ifndef TG_ONNX_H
#define TG_ONNX_H

#include "autograd/export/writer.h"

typedef struct tg_onnx {
    tg_writer *w;
    tg_text *to;    /* a GraphProto, open */
    const char *at; /* the rest of the expression */
    const tg_value *value;
    int results; /* number of nodes for it so far, besides the last */
    bool failed;
} tg_onnx;

enum { TG_ONNX_NAME = 200 };

/* Finds w->rows. False, with the error on the tape, if out of memory. */
bool tg_onnx_find_rows(tg_onnx *o);

/* The name of a value in the graph: "x", the name of a parameter, "v12". */
const char *tg_onnx_name(const tg_onnx *o, const tg_value *value, char name[TG_ONNX_NAME]);

/* Numbers under a name in the graph, or as a message of their own in `field`. `bytes` are in the order of memory. */
void tg_onnx_tensor(tg_text *to, int field, const char *name, int type, int rank, const int64_t *dim, const void *bytes,
                    size_t size);

/* Appends the nodes of an expression (onnx.def); its value gets `name`, or if that is NULL the name of the value. */
void tg_onnx_put(tg_onnx *o, const tg_value *value, const char *name, const char *expression);

#endif
