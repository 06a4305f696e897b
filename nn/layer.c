#include "nn/layer_internal.h"

#include <stdio.h>

tg_name tg_name_in(const char *name, const char *part)
{
    tg_name full;
    snprintf(full.text, sizeof full.text, "%s.%s", name ? name : "", part);
    return full;
}
