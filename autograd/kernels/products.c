#include "autograd/products.h"

#include "autograd/kernels/product.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    [TG_PRODUCTS_AUTO] = "auto", [TG_PRODUCTS_OWN] = "own", [TG_PRODUCTS_OPENBLAS] = "openblas"};
enum { CHOICES = sizeof names / sizeof names[0], UNSET = -1 };

static const char absent[] =
    "OpenBLAS is not installed: there is no libopenblas.so.0 (on Debian, apt-get install libopenblas0)";
static _Atomic(int) in_use = UNSET;
static _Atomic(const char *) wrong; /* in the environment */

const char *tg_products_name(tg_products whose)
{
    return (unsigned)whose < CHOICES ? names[whose] : NULL;
}

tg_products tg_products_now(void)
{
    const int set = atomic_load(&in_use);
    if (set != UNSET)
        return (tg_products)set;
    const char *asked = getenv("TG_PRODUCTS");
    int found = 0, unset = UNSET;
    while (asked && *asked && found < CHOICES && strcmp(names[found], asked) != 0)
        found++;
    if (found == CHOICES)
        atomic_store(&wrong, "TG_PRODUCTS is not auto, own or openblas");
    else if (found == TG_PRODUCTS_OPENBLAS && !tg_has_openblas())
        atomic_store(&wrong, absent);
    atomic_compare_exchange_strong(&in_use, &unset, atomic_load(&wrong) ? TG_PRODUCTS_AUTO : found);
    return (tg_products)atomic_load(&in_use);
}

const char *tg_products_error(void)
{
    tg_products_now();
    return atomic_load(&wrong);
}

bool tg_products_by(tg_products whose, tg_error *error)
{
    if (!tg_products_name(whose))
        return tg_fail(error, "tg_products_by: there is no such choice");
    if (whose == TG_PRODUCTS_OPENBLAS && !tg_has_openblas())
        return tg_fail(error, "%s", absent);
    atomic_store(&in_use, (int)whose);
    atomic_store(&wrong, (const char *)NULL);
    return true;
}
