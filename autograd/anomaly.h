/* Anomaly mode: who made the first NaN or infinity. Internal. */
#ifndef TG_ANOMALY_H
#define TG_ANOMALY_H

#include "autograd/program.h"

typedef struct tg_anomalies {
    bool nan, infinite;
} tg_anomalies;

/* NaN and infinities of the inputs before the value is computed, which may overwrite one of them. */
tg_anomalies tg_anomalies_of_inputs(const tg_value *value);

/* False, with the error recorded, if the value has a NaN or an infinity that these do not explain. */
bool tg_anomaly_check(const tg_value *value, tg_anomalies of_inputs);

#endif
