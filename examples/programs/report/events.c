#include "examples/programs/report/events.h"
#include "examples/programs/report/runlog.h"
#include "examples/programs/system/posix.h"

static const char prefix[] = "events.out.tfevents.", suffix[] = ".tapegrad";
enum { TAG = 100, EVENT = TAG + 64 };

/* ---- records ---- */

static uint32_t masked_checksum(const unsigned char *bytes, size_t size)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xa282ead8;
}

/* Appends a number of `size` bytes, little-endian. */
static unsigned char *put_little(unsigned char *at, uint64_t number, int size)
{
    for (int i = 0; i < size; i++)
        *at++ = (unsigned char)(number >> 8 * i);
    return at;
}

static bool write_record(events *to, const unsigned char *data, size_t size)
{
    unsigned char head[12], foot[4];
    put_little(head, size, 8);
    put_little(head + 8, masked_checksum(head, 8), 4);
    put_little(foot, masked_checksum(data, size), 4);
    fwrite(head, 1, sizeof head, to);
    fwrite(data, 1, size, to);
    fwrite(foot, 1, sizeof foot, to);
    return fflush(to) == 0 && !ferror(to);
}

/* ---- protocol buffers ---- */

enum { WALL_TIME = 1 << 3 | 1, STEP = 2 << 3, FILE_VERSION = 3 << 3 | 2, SUMMARY = 5 << 3 | 2 }; /* of an Event */
enum { VALUE = 1 << 3 | 2, NAME = 1 << 3 | 2, SIMPLE_VALUE = 2 << 3 | 5 };                       /* of its content */

static unsigned char *put_varint(unsigned char *at, uint64_t number)
{
    for (; number >= 128; number >>= 7)
        *at++ = (unsigned char)(number | 128);
    *at++ = (unsigned char)number;
    return at;
}

static unsigned char *put_bytes(unsigned char *at, int field, const void *bytes, size_t size)
{
    *at++ = (unsigned char)field;
    at = put_varint(at, size);
    memcpy(at, bytes, size);
    return at + size;
}

static unsigned char *put_time(unsigned char *at)
{
    struct timespec now;
    uint64_t bits;
    clock_gettime(CLOCK_REALTIME, &now);
    const double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    memcpy(&bits, &seconds, sizeof bits);
    *at++ = WALL_TIME;
    return put_little(at, bits, 8);
}

bool events_scalar(events *to, const char *tag, long step, double value)
{
    unsigned char event[EVENT], inner[EVENT], middle[EVENT], *at;
    const float single = (float)value;
    uint32_t bits;
    if (!to)
        return true;
    memcpy(&bits, &single, sizeof bits);
    at = put_bytes(inner, NAME, tag, strnlen(tag, TAG));
    *at++ = SIMPLE_VALUE;
    at = put_little(at, bits, 4);
    const size_t summary = (size_t)(put_bytes(middle, VALUE, inner, (size_t)(at - inner)) - middle);
    at = put_time(event);
    *at++ = STEP;
    at = put_varint(at, (uint64_t)step);
    at = put_bytes(at, SUMMARY, middle, summary);
    return write_record(to, event, (size_t)(at - event));
}

/* ---- the file ---- */

static void remove_earlier(const char *folder)
{
    DIR *opened = opendir(folder);
    for (const struct dirent *entry; opened && (entry = readdir(opened));) {
        const size_t length = strlen(entry->d_name), end = sizeof suffix - 1;
        if (strncmp(entry->d_name, prefix, sizeof prefix - 1) == 0 && length > end &&
            strcmp(entry->d_name + length - end, suffix) == 0)
            files_remove(folder, entry->d_name);
    }
    if (opened)
        closedir(opened);
}

events *events_open(const char *folder, tg_error *error)
{
    static const char version[] = "brain.Event:2";
    unsigned char event[EVENT], *at;
    char path[PATH_MAX];
    remove_earlier(folder);
    const int length = snprintf(path, sizeof path, "%s/%s%lld%s", folder, prefix, (long long)time(NULL), suffix);
    events *to = length < (int)sizeof path ? fopen(path, "wbxe") : NULL;
    at = put_bytes(put_time(event), FILE_VERSION, version, sizeof version - 1);
    if (to && write_record(to, event, (size_t)(at - event)))
        return to;
    tg_fail(error, "%.400s: the event file cannot be written", folder);
    events_close(to);
    return NULL;
}

void events_close(events *to)
{
    if (to)
        fclose(to);
}

/* ---- runs ---- */

/* Puts numbers under their tags, followed by the split, except those without a tag and NaN. */
static bool put_numbers(events *to, const runlog_field field[], const double number[], int count, const char *split,
                        long step)
{
    bool fine = true;
    for (int i = 0; i < count; i++) {
        char tag[64];
        snprintf(tag, sizeof tag, "%s%s%s", field[i].tag ? field[i].tag : "", *split ? "/" : "", split);
        fine = fine && (!field[i].tag || isnan(number[i]) || events_scalar(to, tag, step, number[i]));
    }
    return fine;
}

bool events_epoch(events *to, const runlog_epoch *e)
{
    return put_numbers(to, runlog_epoch_fields, e->all, RUNLOG_EPOCH_FIELDS, "", e->step);
}

bool events_measures(events *to, const char *split, long step, const runlog_measures *m)
{
    return put_numbers(to, runlog_measure_fields, m->all, RUNLOG_MEASURES, split, step);
}
