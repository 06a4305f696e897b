/* Reads a table once, for tests/bench/tables.py, which takes the time and memory of the process: the file, and one
 * split with standardised columns. Returns the exit status. */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

int table_read_once(const char *path);

#endif
