/* Exported C as code that runs.
 *
 *     void *library = bench_compile(text, "mid-relu", "cc", "", "--emitted");
 *     *(void **)&predict = dlsym(library, "net_predict");
 *     dlclose(library);
 */
#ifndef BENCH_COMPILE_H
#define BENCH_COMPILE_H

/* Compiles the text with this command and loads it. The files are in the folder `keep`, or, if that is empty, removed.
 * NULL, with a message on standard error that names the option. */
void *bench_compile(const char *text, const char *name, const char *compiler, const char *keep, const char *option);

#endif
