/* The recordings that a tape keeps beside the one in use, for steps that alternate between a few graphs: lengths in
 * buckets, a last batch that is smaller, training and validation. Internal.
 *
 *     step 1  [x: 32  a  b  c ...]                        recorded
 *     step 2  [x: 17  a  b  c ...]                        recorded, another graph
 *     step 3  [x: 32                                      the tape turns to the recording of step 1
 *
 * Once a graph has come again, a tape keeps recordings: where a step goes on otherwise than the one in use, that is set
 * aside, and one that was set aside is taken up if it has the same values so far. Their numbers are copied, and its
 * buffers are planned, in the one block that all of them share. A step of which the caller has a pointer to elements
 * (tg_data) does not turn, as they must stay where they are.
 */
#ifndef TG_RECORDINGS_H
#define TG_RECORDINGS_H

#include "autograd/tape/tape_internal.h"

enum { TG_RECORDINGS = 8 };

typedef struct tg_recordings {
    uint64_t seen[TG_RECORDINGS]; /* a number of each of the latest graphs, in a circle */
    int latest;
    int64_t recorded; /* values recorded when the last was noted */
    bool keeps;
    int missed;                       /* steps in a row for which none was there */
    tg_recording kept[TG_RECORDINGS]; /* the one not used for longest first */
    int count;
    char *numbers; /* of the values so far, while the buffers move */
    size_t size;
} tg_recordings;

/* Notes the graph of a step that is over. */
void tg_recordings_note(tg_recordings *all, const tg_program *program);

/* For tg_tape_turn. */
bool tg_recordings_turn(tg_recordings *all, tg_tape *tape, tg_fits *fits, const void *next);

/* The block that the largest of those set aside needs, and all memory that they hold. */
size_t tg_recordings_size(const tg_recordings *all);
int64_t tg_recordings_held(const tg_recordings *all);

/* Forgets them; their values' memory is kept for others, as handles may point there. */
void tg_recordings_forget(tg_recordings *all);
void tg_recordings_free(tg_recordings *all);

#endif
