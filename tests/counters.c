/* Linked into the programs of `make coverage` with --wrap=_exit: a process that ends by _exit keeps the counters of
 * what it has run. */
void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);

void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}
