#include "examples/programs/system/signals.h"

#include "examples/programs/system/standard.h"

static volatile sig_atomic_t caught, last;

#if defined _WIN32

/* Ctrl-C, and that the window is closed. The system has reset the action, so that a second signal has its original
 * effect. */
static const int asking[SIGNALS] = {SIGINT, SIGTERM, SIGBREAK};

static void note(int signal)
{
    caught = last = signal;
}

void signals_catch(signals_before *before)
{
    caught = 0;
    for (int i = 0; i < SIGNALS; i++) {
        before->of[i] = signal(asking[i], note);
        if (before->of[i] == SIG_IGN)
            signal(asking[i], SIG_IGN);
    }
}

void signals_release(const signals_before *before)
{
    for (int i = 0; i < SIGNALS; i++)
        signal(asking[i], before->of[i] == SIG_ERR ? SIG_DFL : before->of[i]);
}

#else

static const int asking[SIGNALS] = {SIGINT, SIGTERM, SIGHUP};

static void note(int signal)
{
    caught = last = signal;
}

void signals_catch(signals_before *before)
{
    caught = 0;
    for (int i = 0; i < SIGNALS; i++) {
        const int once = asking[i] == SIGHUP ? 0 : (int)SA_RESETHAND;
        const struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART | once};
        sigaction(asking[i], NULL, &before->of[i]);
        if (before->of[i].sa_handler != SIG_IGN)
            sigaction(asking[i], &action, NULL);
    }
}

void signals_release(const signals_before *before)
{
    for (int i = 0; i < SIGNALS; i++)
        if (asking[i] != SIGHUP || caught != SIGHUP)
            sigaction(asking[i], &before->of[i], NULL);
    if (caught == SIGHUP)
        signal(SIGHUP, SIG_IGN);
}

#endif

int signals_caught(void)
{
    return caught;
}

int signals_status(void)
{
    return 128 + (last ? last : SIGINT);
}
