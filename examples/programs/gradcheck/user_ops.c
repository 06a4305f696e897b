#include "examples/programs/gradcheck/user_ops.h"

#include "examples/programs/system/posix.h"

#include <signal.h>

/* ---- loading ---- */

static bool is_known_before(const tg_op *const *ops, int index)
{
    for (int i = 0; i < index; i++)
        if (strcmp(ops[i]->name, ops[index]->name) == 0)
            return true;
    return tg_op_find(ops[index]->name) != NULL;
}

/* True if all can be checked; otherwise the error in the first that cannot. */
static bool are_complete(const char *path, const tg_op *const *ops, tg_error *error)
{
    int i = 0;
    for (const char *wrong = NULL; ops[i]; i++) {
        const tg_op *op = ops[i];
        wrong = tg_op_missing(op);
        const char *lacks = wrong ? " lacks " : "";
        if (!wrong && is_known_before(ops, i))
            wrong = " has a name that another operation has";
        else if (!wrong && op->derivative && op->sample_count < 1)
            lacks = " lacks ", wrong = "samples to be checked on (TG_SAMPLES)";
        if (wrong)
            return tg_fail(error, "'%.300s': operation %d%s%.60s%s%s%s", path, i, op->name ? " '" : "",
                           op->name ? op->name : "", op->name ? "'" : "", lacks, wrong);
    }
    return i > 0 || tg_fail(error, "'%.300s': there are no operations in TG_USER_OPS", path);
}

const tg_op *const *user_ops_load(const char *path, tg_error *error)
{
    if (!strchr(path, '/') && access(path, F_OK) == 0) /* dlopen would look for it among the system's libraries */
        return tg_fail(error, "'%.300s': write './%.300s' for the file in this folder", path, path), NULL;
    const char *why;
    void *library = system_library_open(path, &why);
    if (!library)
        return tg_fail(error, "%.1000s", why), NULL;
    const tg_user_ops *found = system_library_find(library, "tg_user_ops_exported");
    if (!found)
        tg_fail(error, "'%.300s': exports no operations: end one of its files with TG_USER_OPS(&my_op)", path);
    else if (strcmp(found->version, tg_version()) != 0 || found->op_size != sizeof(tg_op))
        tg_fail(error, "'%.300s': was compiled with the headers of tapegrad %.30s, and this is %s%s: compile it again",
                path, found->version, tg_version(),
                strcmp(found->version, tg_version()) == 0 ? ", where an operation has another size" : "");
    else if (are_complete(path, found->ops, error))
        return found->ops;
    system_library_close(library);
    return NULL;
}

/* ---- faults ---- */

static char under_check[128];

static void on_fault(int number)
{
    static const char before[] = "gradcheck: the program crashed while it checked '", after[] = "'\n";
    ssize_t written = write(STDERR_FILENO, before, sizeof before - 1);
    written += write(STDERR_FILENO, under_check, strlen(under_check));
    written += write(STDERR_FILENO, after, sizeof after - 1);
    (void)written;
    raise(number); /* the default action, as the handler is gone */
}

void user_ops_guard(void)
{
    system_on_fault(on_fault);
}

void user_ops_checking(const char *name)
{
    snprintf(under_check, sizeof under_check, "%s", name);
}
