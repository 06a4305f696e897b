/* The protocol from child to parent: messages on a pipe, each a head and then `size` bytes.
 *
 *     | kind | size | size bytes ... | kind | size | ...
 */
#ifndef LAB_JOBS_INTERNAL_H
#define LAB_JOBS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { JOBS_MESSAGE_PROGRESS = 1, JOBS_MESSAGE_RECORD, JOBS_MESSAGE_FAILURE } jobs_message_kind;

typedef struct {
    uint32_t kind, size;
} jobs_message_head;

enum { JOBS_MESSAGE_LIMIT = 64 << 20, JOBS_FAILURE_LIMIT = 400 };

struct jobs_link {
    int descriptor;     /* write end of the pipe; never blocks */
    double last_report; /* seconds */
    int last_epoch;
};

#endif
