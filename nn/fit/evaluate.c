#include "nn/fit/fit_internal.h"

#include "autograd/ops.h"

#include <math.h>

bool tg_fit_feed_evaluate(tg_fit *fit, tg_fit_feed *feed, double *loss, double *score)
{
    const int64_t all = feed->rows->count, most = fit->config.evaluation_batch;
    *loss = *score = 0;
    for (int64_t first = 0, number = 0; first < all; first += most, number++) {
        const int64_t count = all - first < most ? all - first : most;
        tg_tensor batch[TG_FIT_COLUMNS];
        double of_batch = NAN;
        tg_tape *tape = tg_fit_tape(fit, &fit->evaluation, count);
        tg_tape_reset(tape);
        if (!tg_fit_feed_take(feed, tape, first, count, tg_fit_stream(fit, "evaluation", number), batch))
            return tg_fail_first(&fit->error, "evaluation: batch %lld could not be made", (long long)number + 1);
        tg_no_grad_begin(tape);
        const tg_tensor mean = fit->config.loss(fit->config.model, batch, NULL, &of_batch);
        tg_no_grad_end(tape);
        if (tg_tape_error(tape))
            return tg_fail_first(&fit->error, "evaluation: %s", tg_tape_error(tape));
        if (tg_size(mean) != 1)
            return tg_fail_first(&fit->error, "evaluation: " TG_FIT_NO_SCALAR);
        *loss += tg_item(mean) * (double)count;
        *score += of_batch * (double)count;
    }
    *loss /= (double)all;
    *score /= (double)all;
    return true;
}

bool tg_fit_evaluate(tg_fit *fit, const tg_fit_rows *rows, double *loss, double *score)
{
    double none;
    if (!fit || fit->error.text[0])
        return false;
    const char *wrong = rows ? tg_fit_rows_error(rows) : "there are no rows";
    if (wrong)
        return tg_fail_first(&fit->error, "evaluation: %s", wrong);
    tg_fit_feed feed;
    const bool fine = tg_fit_feed_init(&feed, rows, fit->config.evaluation_batch, true)
                          ? tg_fit_feed_evaluate(fit, &feed, loss ? loss : &none, score ? score : &none)
                          : tg_fail_first(&fit->error, "evaluation: out of memory");
    tg_fit_feed_free(&feed);
    return fine;
}
