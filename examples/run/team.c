#include "examples/run/team.h"

#include <stddef.h>

static tg_communicator team; /* size 0 if this process is alone */

const tg_communicator *team_communicator(void)
{
    return team.size > 1 ? &team : NULL;
}

bool team_follows(void)
{
    return team.rank > 0;
}

#ifdef TG_MPI
#include <mpi.h>
#include <unistd.h>

/* MPI counts in int. */
enum { MOST = 1 << 30 };

static bool send_to(void *context, int to, const void *bytes, size_t size)
{
    (void)context;
    for (const char *at = bytes; size > 0;) {
        const size_t some = size < MOST ? size : MOST;
        if (MPI_Send(at, (int)some, MPI_BYTE, to, 0, MPI_COMM_WORLD) != MPI_SUCCESS)
            return false;
        at += some;
        size -= some;
    }
    return true;
}

static bool receive_from(void *context, int from, void *bytes, size_t size)
{
    (void)context;
    for (char *at = bytes; size > 0;) {
        const size_t some = size < MOST ? size : MOST;
        if (MPI_Recv(at, (int)some, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return false;
        at += some;
        size -= some;
    }
    return true;
}

static bool exchange(void *context, int with, const void *sent, size_t sent_size, void *received, size_t received_size)
{
    (void)context;
    const char *out = sent;
    for (char *in = received; sent_size > 0 || received_size > 0;) {
        const size_t some = sent_size < MOST ? sent_size : MOST, more = received_size < MOST ? received_size : MOST;
        if (MPI_Sendrecv(out, (int)some, MPI_BYTE, with, 0, in, (int)more, MPI_BYTE, with, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return false;
        out += some;
        in += more;
        sent_size -= some;
        received_size -= more;
    }
    return true;
}

void team_begin(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &team.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &team.size);
    team.send = send_to;
    team.receive = receive_from;
    team.exchange = exchange;
}

bool team_agree(bool what)
{
    int answer = what;
    return MPI_Bcast(&answer, 1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS && answer;
}

void team_meet(void)
{
    MPI_Request request;
    int here = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &here, MPI_STATUS_IGNORE) == MPI_SUCCESS && !here)
        usleep(1000);
}

bool team_is_possible(void)
{
    return true;
}

int team_end(int status)
{
    if (status && team.size > 1) /* the others may wait for this process */
        MPI_Abort(MPI_COMM_WORLD, status);
    MPI_Finalize();
    return status;
}
#else
void team_begin(void)
{
}

bool team_agree(bool what)
{
    return what;
}

void team_meet(void)
{
}

bool team_is_possible(void)
{
    return false;
}

int team_end(int status)
{
    return status;
}
#endif
