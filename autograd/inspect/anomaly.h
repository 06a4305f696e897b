/* Anomaly mode: finds the operation that made the first NaN or infinity. Internal. */
#ifndef TG_ANOMALY_H
#define TG_ANOMALY_H

#include "autograd/tape/program.h"

typedef struct tg_anomalies {
    bool nan, infinite;
} tg_anomalies;

/* Finds NaN and infinities in the inputs; call it before the value is computed, as that may overwrite an input. */
tg_anomalies tg_anomalies_of_inputs(const tg_value *value);

/* False, with the error recorded, if the value has a NaN or an infinity that its inputs do not explain. */
bool tg_anomaly_check(const tg_value *value, tg_anomalies of_inputs);

#endif
