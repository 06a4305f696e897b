/* Words behind a number. */
#ifndef DATA_WORDS_H
#define DATA_WORDS_H

/* printf("%d run%s\n", runs, plural(runs)): "1 run", "2 runs". */
static inline const char *plural(long long count)
{
    return count == 1 ? "" : "s";
}

#endif
