/* Linked into the programs of `make coverage` with --wrap=_exit: writes the coverage counters of processes that end by
 * _exit. */
void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);

void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}
