/*
 * digest.c - digests of what the optima of a study are made of.
 */
#include "sddp/ranks/digest.h"

#include "mcp/hash.h"

#include "sddp/study.h"

uint64_t digest_add(uint64_t sum, const void *bytes, size_t length)
{
    const uint64_t key[2] = { sum, length };

    return mcp_siphash13(key, bytes, length);
}

static uint64_t add_program(uint64_t sum, const lp_program *p)
{
    size_t columns = (size_t)p->columns, rows = (size_t)p->rows;
    size_t elements = (size_t)p->start[columns];

    sum = digest_add(sum, p->start, (columns + 1) * sizeof *p->start);
    sum = digest_add(sum, p->row, elements * sizeof *p->row);
    sum = digest_add(sum, p->value, elements * sizeof *p->value);
    sum = digest_add(sum, p->lower, columns * sizeof *p->lower);
    sum = digest_add(sum, p->upper, columns * sizeof *p->upper);
    sum = digest_add(sum, p->cost, columns * sizeof *p->cost);
    sum = digest_add(sum, p->row_lower, rows * sizeof *p->row_lower);
    return digest_add(sum, p->row_upper, rows * sizeof *p->row_upper);
}

uint64_t digest_of_study(const sddp *s)
{
    uint64_t sum = s->stages ^ (uint64_t)s->dimension << 32;

    sum = digest_add(sum, s->initial, s->dimension * sizeof *s->initial);
    for (size_t t = 0; t < s->stages; t++) {
        const cobre_stage *stage = &s->input->stages[t];
        const double risk[2] = { stage->is_cvar ? stage->cvar_alpha : 1.0,
                                 stage->is_cvar ? stage->cvar_lambda : 0.0 };
        sum = add_program(sum, &s->programs[t].program);
        sum = digest_add(sum, risk, sizeof risk);
        sum = digest_add(sum, s->tree->noise[t],
                         s->tree->openings[t] * s->tree->dimension * sizeof *s->tree->noise[t]);
    }
    return sum;
}
