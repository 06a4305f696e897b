/* Writes event files for TensorBoard: named scalars over steps.
 *
 *     events *board = events_open("results/iris-mlp", &error);       // tensorboard --logdir results
 *     events_scalar(board, "loss/train", 100, 0.31);
 *     events_close(board);
 *
 * The file is a sequence of TFRecords (length, its checksum, data, its checksum; little-endian), each an Event of
 * TensorFlow's event.proto: wall_time = 1, step = 2, file_version = 3, summary = 5 of values {tag = 1, simple_value =
 * 2}. A checksum is that of Castagnoli (CRC-32C, RFC 3720), masked: rotated right by 15 bits, plus 0xa282ead8.
 */
#pragma once

#include "examples/programs/report/files.h"
#include "examples/programs/report/runlog.h"

typedef FILE events;

/* Creates a file events.out.tfevents.SECONDS.tapegrad in the folder, in place of those of earlier calls. NULL and one
 * line if it cannot be written. */
events *events_open(const char *folder, tg_error *error);
void events_close(events *to);

/* Appends a number and flushes it to the file; false if it cannot be written. NULL: does nothing, and returns true. */
bool events_scalar(events *to, const char *tag, long step, double value);

/* Append the results of an epoch, and the measures of a net on a split ("loss/test", ...), but not what is NaN. */
bool events_epoch(events *to, const runlog_epoch *epoch);
bool events_measures(events *to, const char *split, long step, const runlog_measures *m);
