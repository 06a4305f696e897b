#include "examples/programs/run/claim.h"

#include "examples/programs/run/progress.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const double signs = 12, longest = 10; /* signs of life within the patience; maximum seconds between two */

/* ---- this machine ---- */

typedef struct machine {
    char host[65], boot[40]; /* boot: differs after each start of the machine; empty: unknown */
} machine;

static machine this_machine(void)
{
    machine m = {.boot = ""};
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (gethostname(m.host, sizeof m.host - 1) != 0)
        snprintf(m.host, sizeof m.host, "unknown");
    if (file) {
        if (fgets(m.boot, sizeof m.boot, file))
            m.boot[strcspn(m.boot, "\n")] = '\0';
        fclose(file);
    }
    return m;
}

/* This clock runs while the machine sleeps, like the clocks of other machines. */
static double clock_with_sleep(void)
{
#ifdef CLOCK_BOOTTIME
    struct timespec now;
    if (clock_gettime(CLOCK_BOOTTIME, &now) == 0)
        return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
#endif
    return jobs_clock();
}

/* ---- the files ---- */

static bool path_of(const char *folder, int number, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/claim.%d", folder, number) < PATH_MAX;
}

/* The number in a claim file's name; 0 for another file. */
static int number_of(const char *name)
{
    static const char begin[] = "claim.";
    char *end;
    if (strncmp(name, begin, sizeof begin - 1) != 0)
        return 0;
    const long number = strtol(name + sizeof begin - 1, &end, 10);
    return *end || number < 1 || number >= INT_MAX ? 0 : (int)number;
}

/* The number of the newest claim; 0 if there is none, -1 if unknown. */
static int newest(const char *folder)
{
    DIR *opened = opendir(folder);
    int most = opened || errno == ENOENT ? 0 : -1;
    for (const struct dirent *entry; opened && (entry = readdir(opened));) {
        const int number = number_of(entry->d_name);
        most = number > most ? number : most;
    }
    if (opened)
        closedir(opened);
    return most;
}

static void remove_all(const char *folder)
{
    DIR *opened = opendir(folder);
    for (const struct dirent *entry; opened && (entry = readdir(opened));)
        if (number_of(entry->d_name))
            unlinkat(dirfd(opened), entry->d_name, 0);
    if (opened)
        closedir(opened);
}

/* Replaces the content of the file. */
static bool put(int descriptor, json_t *object)
{
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    const ssize_t size = text ? (ssize_t)strlen(text) : 0;
    const bool fine = text && pwrite(descriptor, text, (size_t)size, 0) == size && ftruncate(descriptor, size) == 0;
    free(text);
    json_decref(object);
    return fine;
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

/* ---- the claim of another process ---- */

/* True if this machine's kernel says that the process that wrote the claim has ended. */
static bool has_ended(int descriptor, const json_t *says)
{
    const machine here = this_machine();
    if (!here.boot[0] || strcmp(text_of(says, "boot"), here.boot) != 0 || strcmp(text_of(says, "host"), here.host) != 0)
        return false;
    return flock(descriptor, LOCK_SH | LOCK_NB) == 0;
}

/* True if the newest claim can be taken over; not while it is being written. */
static bool is_free(claim *c, const char *folder, int number, double patience)
{
    char path[PATH_MAX];
    struct stat status;
    const int descriptor = path_of(folder, number, path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (descriptor < 0 || fstat(descriptor, &status) != 0) { /* it was removed just now */
        if (descriptor >= 0)
            close(descriptor);
        return false;
    }
    const bool same = number == c->number && status.st_mtim.tv_sec == c->changed.tv_sec &&
                      status.st_mtim.tv_nsec == c->changed.tv_nsec;
    c->since = same ? c->since : jobs_clock();
    c->number = number;
    c->changed = status.st_mtim;
    json_t *says = json_loadfd(descriptor, 0, NULL);
    snprintf(c->holder, sizeof c->holder, "host %.64s, process %lld", text_of(says, "host"),
             (long long)json_integer_value(json_object_get(says, "process")));
    if (!says)
        c->holder[0] = '\0';
    const bool over = json_is_true(json_object_get(says, "free")) || has_ended(descriptor, says) ||
                      jobs_clock() - c->since > patience;
    json_decref(says);
    close(descriptor);
    return over;
}

/* ---- ours ---- */

static void let_go(claim *c)
{
    close(c->descriptor);
    c->held = false;
}

claim_outcome claim_take(claim *c, const char *folder, double patience, tg_error *error)
{
    const machine here = this_machine();
    const int known = newest(folder), before = known > 0 ? known : 0;
    char path[PATH_MAX];
    if (before && !is_free(c, folder, before, patience))
        return CLAIM_THEIRS;
    const int descriptor =
        path_of(folder, before + 1, path) ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    if (descriptor < 0 && errno == EEXIST)
        return CLAIM_THEIRS;
    if (descriptor < 0) {
        tg_fail(error, "cannot write the file '%.300s': %s", path, strerror(errno));
        return CLAIM_FAILED;
    }
    *c = (claim){.number = before + 1, .held = true, .descriptor = descriptor, .kept = clock_with_sleep()};
    flock(descriptor, LOCK_EX | LOCK_NB); /* before the owner is written, as readers check the lock */
    if (!put(descriptor,
             json_pack("{s:s,s:s,s:I}", "host", here.host, "boot", here.boot, "process", (json_int_t)getpid()))) {
        tg_fail(error, "cannot write the file '%.300s': %s", path, strerror(errno));
        unlink(path);
        let_go(c);
        return CLAIM_FAILED;
    }
    if (newest(folder) == c->number)
        return CLAIM_OURS;
    let_go(c);
    return CLAIM_THEIRS;
}

bool claim_keep(claim *c, const char *folder, double patience)
{
    const double now = clock_with_sleep(), every = patience / signs < longest ? patience / signs : longest;
    if (!c->held || now - c->kept < every)
        return c->held;
    c->kept = now;
    const int number = newest(folder);
    if (number >= 0 && number != c->number) /* 0: the folder was emptied */
        let_go(c);
    else
        futimens(c->descriptor, NULL);
    return c->held;
}

void claim_release(claim *c, const char *folder, bool done)
{
    if (!c->held)
        return;
    if (done)
        remove_all(folder);
    else if (newest(folder) == c->number)
        put(c->descriptor, json_pack("{s:b}", "free", 1));
    let_go(c);
}
