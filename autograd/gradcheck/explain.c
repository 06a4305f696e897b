#include "autograd/gradcheck/paste.h"
#include "autograd/gradcheck/explain.h"

#include "autograd/gradcheck/suspect.h"

#include <math.h>

/* The largest number of elements shown of an input; the generated test has them all. */
enum { SHOWN = 8 };

static void add_inputs(tg_text *text, const tg_check *c)
{
    for (int i = 0; i < c->report.count; i++) {
        const tg_gradcheck_input *in = &c->report.inputs[i];
        const tg_shape *shape = tg_check_shape_of(in);
        const double *data = tg_check_data_of(in);
        const int64_t size = tg_shape_size(shape);
        char words[128];
        tg_text_add(text, "  %-12s", i == 0 ? "inputs" : "");
        tg_check_add_element(text, &c->report, i, -1);
        tg_text_add(text, " %s:", tg_shape_text(shape, words, sizeof words));
        for (int64_t k = 0; k < size && k < SHOWN; k++)
            if (in->integers)
                tg_text_add(text, " %d", in->integers[k]);
            else
                tg_text_add(text, " %.9g", data[k]);
        tg_text_add(text, size > SHOWN ? " ...\n" : "\n");
    }
}

static int part_of(const tg_check *c, int input)
{
    for (int p = 0; p < c->part_count; p++)
        if (c->parts[p].input == input)
            return p;
    return -1;
}

/* The entry of an input's derivatives with the largest error; at the failing element, if that is known. */
static int64_t worst_entry(const tg_check *c, const tg_check_jacobian *j, int part)
{
    const tg_gradcheck_result *v = &c->report.result;
    const int64_t from = c->parts[part].offset + (v->index < 0 ? 0 : v->index);
    const int64_t to = v->index < 0 ? from + c->parts[part].size : from + 1;
    int64_t worst = from;
    double error = -1;
    for (int64_t row = 0; row < j->rows; row++)
        for (int64_t i = from; i < to; i++) {
            const int64_t entry = row * j->columns + i;
            if (fabs(j->found[entry] - j->expected[entry]) > error) {
                error = fabs(j->found[entry] - j->expected[entry]);
                worst = entry;
            }
        }
    return worst;
}

/* "the result at [0, 2]"; at order 2 "the derivative by input 1 at [2]" */
static void add_output(tg_text *text, const tg_check *c, int order, int64_t row)
{
    if (order == 1) {
        tg_shape shape = c->output_shape;
        int output = 0;
        for (; c->box && c->box->output_count > 0; output++) {
            shape = c->box->outputs[output];
            if (row < tg_shape_size(&shape))
                break;
            row -= tg_shape_size(&shape);
        }
        tg_text_add(text, c->box && c->box->output_count > 1 ? "output %d" : "the result", output);
        tg_text_add(text, shape.rank > 0 ? " at " : "");
        tg_check_add_index(text, &shape, row);
        return;
    }
    const tg_check_part *part = tg_check_part_at(c, row);
    if (order == 2)
        tg_text_add(text, "the derivative by ");
    else
        tg_text_add(text, "derivative %d by ", order - 1);
    tg_check_add_element(text, &c->report, part->input, row - part->offset);
}

static void add_derivatives(tg_text *text, tg_check *c, const tg_gradcheck_result *v)
{
    const int part = part_of(c, v->input);
    tg_check_jacobian j;
    if (v->status != TG_GRADCHECK_WRONG || part < 0 || !tg_check_jacobian_of(c, v->order, &j))
        return;
    const int64_t entry = worst_entry(c, &j, part), row = entry / j.columns, variable = entry % j.columns;
    tg_text_add(text, "  %-12s", "derivative");
    tg_text_add(text, "of ");
    add_output(text, c, v->order, row);
    tg_text_add(text, " by ");
    tg_check_add_element(text, &c->report, v->input, variable - c->parts[part].offset);
    tg_text_add(text, ", which is %.9g\n  %-12s%.9g\n  %-12s%.9g\n  %-12s", c->point[variable], "expected",
                j.expected[entry], "found", j.found[entry], "seems");
    tg_check_suspect(text, c, &j, part);
    tg_text_add(text, "\n");
}

void tg_check_no_report(const tg_gradcheck_options *options)
{
    if (options->report && options->report_size > 0)
        options->report[0] = '\0';
}

void tg_check_explain(tg_check *c, const char *heading)
{
    if (!c->options.report || c->report.result.status == TG_GRADCHECK_REFUSED)
        return;
    tg_text text = {c->options.report, c->options.report_size, 0};
    const tg_gradcheck_result result = c->report.result;
    tg_text_add(&text, "%s%s\n\n", heading, result.why);
    add_inputs(&text, c);
    add_derivatives(&text, c, &result);
    c->report.result = result;
    tg_check_put_back(c);
    if (c->box) /* a black box: the user's own call is the test */
        return;
    tg_text_add(&text, "\n");
    tg_check_add_test(&text, c);
}
