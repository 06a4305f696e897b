/* Anomaly mode: who made the first NaN or infinity. Internal. */
#ifndef TG_ANOMALY_H
#define TG_ANOMALY_H

#include "autograd/program.h"

/* False, with the error recorded, if the value holds a NaN or an infinity that its inputs do not explain. */
bool tg_anomaly_check(const tg_value *value);

#endif
