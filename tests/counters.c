/* Linked into the programs of `make coverage` with --wrap=_exit: writes the coverage counters of processes that end by
 * _exit, too. While they are written no call is made to fail (tests/faults/fail.c), and a file may have any size, which
 * only root can change. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/resource.h>

void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);

/* Runs before the destructor that writes the counters, which GCC gives the last place. */
__attribute__((destructor)) static void prepare(void)
{
    const struct rlimit any_size = {RLIM_INFINITY, RLIM_INFINITY};
    void (*stop)(void);
    *(void **)&stop = dlsym(RTLD_DEFAULT, "fail_stop");
    if (stop)
        stop();
    setrlimit(RLIMIT_FSIZE, &any_size);
}

void __wrap__exit(int status)
{
    prepare();
    __gcov_dump();
    __real__exit(status);
}
