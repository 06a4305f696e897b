#include "examples/programs/run/team.h"

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
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

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

/* ---- exchange on one machine ---- */

/* What one process sends to another one on the same machine: memory that both see. The sender fills the slots in turn,
 * and the receiver empties them. MPI_Sendrecv would read the sender's own memory, whose cache lines the sender must
 * then take back when it next writes there, which takes several times as long as the copy: docs/several-processes.md.
 */
enum { SLOTS = 4, SLOT_BYTES = 1 << 16, LINE = 64 };
typedef struct box {
    _Alignas(LINE) atomic_uint filled;  /* slots so far, counted by the sender */
    _Alignas(LINE) atomic_uint emptied; /* and by the receiver */
    _Alignas(LINE) char slot[SLOTS][SLOT_BYTES];
} box;

enum { MOST_BOXES = 16 };                             /* larger teams exchange by MPI */
static box *out_box[MOST_BOXES], *in_box[MOST_BOXES]; /* to and from each process; NULL: on another machine */
static MPI_Win boxes = MPI_WIN_NULL;                  /* their memory */

/* The boxes in the memory of process i of the window, one for each process. */
static box *boxes_of(int i)
{
    MPI_Aint size;
    int unit;
    char *memory = NULL;
    MPI_Win_shared_query(boxes, i, &size, &unit, &memory);
    return (box *)(void *)(memory + (LINE - (uintptr_t)memory % LINE) % LINE);
}

static void make_boxes(void)
{
    MPI_Comm here;
    MPI_Group group_here, group_all;
    int rank, size, from[MOST_BOXES], to[MOST_BOXES]; /* the number of a process on this machine, and in the team */
    if (team.size < 2 || team.size > MOST_BOXES ||
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here) != MPI_SUCCESS)
        return;
    MPI_Comm_rank(here, &rank);
    MPI_Comm_size(here, &size);
    MPI_Comm_group(here, &group_here);
    MPI_Comm_group(MPI_COMM_WORLD, &group_all);
    for (int i = 0; i < size; i++)
        from[i] = i;
    MPI_Group_translate_ranks(group_here, size, from, group_all, to);
    MPI_Group_free(&group_here);
    MPI_Group_free(&group_all);

    void *unused;
    int fine = MPI_Win_allocate_shared((MPI_Aint)((size_t)size * sizeof(box) + LINE), 1, MPI_INFO_NULL, here, &unused,
                                       &boxes) == MPI_SUCCESS;
    for (int i = 0; fine && i < size; i++)
        boxes_of(rank)[i].filled = boxes_of(rank)[i].emptied = 0;
    MPI_Allreduce(MPI_IN_PLACE, &fine, 1, MPI_INT, MPI_LAND, here); /* waits until the boxes of all are empty */
    if (!fine)
        boxes = MPI_WIN_NULL;
    for (int i = 0; fine && i < size; i++) {
        out_box[to[i]] = &boxes_of(rank)[i];
        in_box[to[i]] = &boxes_of(i)[rank];
    }
    MPI_Comm_free(&here);
}

/* Copies past the cache where the processor can, as the receiver's cache has the old bytes of the slot. */
static void fill_slot(char *slot, const char *bytes, size_t size)
{
    size_t done = 0;
#ifdef __SSE2__
    for (; size - done >= sizeof(__m128i); done += sizeof(__m128i))
        _mm_stream_si128((__m128i *)(void *)(slot + done),
                         _mm_loadu_si128((const __m128i *)(const void *)(bytes + done)));
    _mm_sfence();
#endif
    memcpy(slot + done, bytes + done, size - done);
}

/* Fills slots as long as there is room, so that the receiver seldom waits. Waits in a busy loop that gives way to other
 * programs. */
static void exchange_here(int with, const char *sent, size_t sent_size, char *received, size_t received_size,
                          tg_fit_add *add)
{
    enum { TURNS = 1000 };
    box *out = out_box[with], *in = in_box[with];
    for (int idle = 0; sent_size > 0 || received_size > 0;) {
        if (sent_size > 0 && out->filled - out->emptied < SLOTS) {
            const size_t some = sent_size < SLOT_BYTES ? sent_size : SLOT_BYTES;
            fill_slot(out->slot[out->filled % SLOTS], sent, some);
            out->filled++;
            sent += some;
            sent_size -= some;
            idle = 0;
        } else if (received_size > 0 && in->filled != in->emptied) {
            const size_t some = received_size < SLOT_BYTES ? received_size : SLOT_BYTES;
            const char *slot = in->slot[in->emptied % SLOTS];
            if (add)
                add(received, slot, some);
            else
                memcpy(received, slot, some);
            in->emptied++;
            received += some;
            received_size -= some;
            idle = 0;
        } else if (idle < TURNS) {
            idle++;
        } else {
            sched_yield();
        }
    }
}

static bool exchange(void *context, int with, const void *sent, size_t sent_size, void *received, size_t received_size,
                     tg_fit_add *add)
{
    static _Alignas(LINE) char to_add[1 << 20];
    const size_t most = add ? sizeof to_add : MOST;
    (void)context;
    if (with < MOST_BOXES && out_box[with]) {
        exchange_here(with, sent, sent_size, received, received_size, add);
        return true;
    }
    const char *out = sent;
    for (char *in = received; sent_size > 0 || received_size > 0;) {
        const size_t some = sent_size < most ? sent_size : most, more = received_size < most ? received_size : most;
        if (MPI_Sendrecv(out, (int)some, MPI_BYTE, with, 0, add ? to_add : in, (int)more, MPI_BYTE, with, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return false;
        if (add)
            add(in, to_add, more);
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
    make_boxes();
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
    if (boxes != MPI_WIN_NULL)
        MPI_Win_free(&boxes);
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
