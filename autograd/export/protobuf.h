/* Writes messages of Protocol Buffers, as far as ONNX needs them: fields one after the other, into memory as snprintf
 * does. Internal. The format: protobuf.dev/programming-guides/encoding.
 *
 *     const size_t graph = tg_proto_begin(to, 7);       // field 7 is a message
 *     tg_proto_text(to, 2, "net");
 *     tg_proto_end(to, graph);
 */
#ifndef TG_PROTOBUF_H
#define TG_PROTOBUF_H

#include "autograd/base/text.h"
#include "autograd/shape.h"

void tg_proto_int(tg_text *to, int field, int64_t number);
void tg_proto_float(tg_text *to, int field, float number);
void tg_proto_bytes(tg_text *to, int field, const void *bytes, size_t size);
void tg_proto_text(tg_text *to, int field, const char *text);

/* Begin and end a message inside the message. Its length always takes five bytes. */
size_t tg_proto_begin(tg_text *to, int field);
void tg_proto_end(tg_text *to, size_t begin);

#endif
