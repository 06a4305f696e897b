/* Included by every public header: the marks around its declarations, and the version.
 *
 *     TG_API_BEGIN
 *     tg_tape *tg_tape_new(void);
 *     TG_API_END
 *
 * Between the marks declarations have C linkage, in C++ too, and are exported: the library is compiled with everything
 * else hidden.
 */
#ifndef TG_API_H
#define TG_API_H

#ifdef __cplusplus
#define TG_C_LINKAGE_BEGIN extern "C" {
#define TG_C_LINKAGE_END   }
#else
#define TG_C_LINKAGE_BEGIN
#define TG_C_LINKAGE_END
#endif

#ifdef __GNUC__
#define TG_API_BEGIN TG_C_LINKAGE_BEGIN _Pragma("GCC visibility push(default)")
#define TG_API_END   _Pragma("GCC visibility pop") TG_C_LINKAGE_END
#else
#define TG_API_BEGIN TG_C_LINKAGE_BEGIN
#define TG_API_END   TG_C_LINKAGE_END
#endif

/* Before a function that prints or scans by a format, as C99 defines it: compilers check its arguments. Arguments are
 * counted from 1; no first one: 0. GCC for Windows would take "printf" for that of Windows. */
#if defined __MINGW32__ && !defined __clang__
#define TG_FORMAT(kind, format_at, first) __attribute__((format(gnu_##kind, format_at, first)))
#elif defined __GNUC__
#define TG_FORMAT(kind, format_at, first) __attribute__((format(kind, format_at, first)))
#else
#define TG_FORMAT(kind, format_at, first)
#endif

/* The version of the headers. Minor versions may change the interface while the major version is 0. */
#define TG_VERSION_MAJOR 0
#define TG_VERSION_MINOR 1
#define TG_VERSION_PATCH 0
#define TG_VERSION       "0.1.0"

TG_API_BEGIN

/* The version of the library that the program runs with: "0.1.0". */
const char *tg_version(void);

TG_API_END
#endif
