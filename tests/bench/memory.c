#include "tests/bench/modes.h"

#include "tests/bench/step.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 3, MEGABYTE = 1000000 };

static bool step_of_perceptron(const bench_net *net, tg_activation activation, bench_memory *took)
{
    const bench_shape shape = bench_shape_of(net, activation);
    tape_step *step = tape_step_new(net, activation, 1e-3);
    bench_batch *batch = bench_batch_new(&shape, 1);
    if (!step || !batch)
        return false;
    for (int i = 0; i < STEPS; i++)
        tape_step_run(step, batch->inputs, batch->labels);
    *took = (bench_memory){4 * tg_parameters_size(tape_step_parameters(step)), tg_tape_count(tape_step_tape(step))};
    return !tape_step_error(step); /* the process ends here, so nothing is freed */
}

/* Runs in a child process, whose resident memory is that of this step alone. */
static bool measure(const char *name, const bench_net *net, tg_activation activation, bool csv)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        bench_memory took;
        struct rusage usage;
        if (!(net ? step_of_perceptron(net, activation, &took) : gpt_memory(activation, STEPS, &took)))
            _exit(1);
        getrusage(RUSAGE_SELF, &usage);
        printf(csv ? "%s,%s,%.2f,%.2f,%.2f,%.2f\n" : "%-8s%-12s%12.2f%12.2f%12.2f%12.2f\n", name,
               tg_activation_name(activation), 4.0 * (double)took.parameters / MEGABYTE,
               (double)took.tape.bytes_used / MEGABYTE, (double)took.tape.bytes_held / MEGABYTE,
               1024.0 * (double)usage.ru_maxrss / MEGABYTE);
        _exit(fflush(stdout) == 0 ? 0 : 1);
    }
    int status = -1;
    const bool fine = child > 0 && waitpid(child, &status, 0) == child && status == 0;
    if (!fine)
        fprintf(stderr, "bench: the step of %s with %s failed\n", name, tg_activation_name(activation));
    return fine;
}

bool memory_bench(const memory_settings *s)
{
    int lines = 0;
    printf(s->csv ? "net,activation,trained MB,tape used MB,tape held MB,resident MB\n"
                  : "net     activation  trained, MB  tape used   tape held    resident\n");
    for (int n = 0;; n++) {
        const bench_net *net = bench_net_at(n);
        const char *name = net ? net->name : "gpt";
        for (int a = 0; bench_is_listed(s->nets, name) && tg_activation_name((tg_activation)a); a++)
            if (bench_is_listed(s->activations, tg_activation_name((tg_activation)a))) {
                if (!measure(name, net, (tg_activation)a, s->csv))
                    return false;
                lines++;
            }
        if (!net)
            break;
    }
    if (lines == 0)
        fprintf(stderr, "bench: --nets or --activations has none that can be measured\n");
    return lines > 0;
}
