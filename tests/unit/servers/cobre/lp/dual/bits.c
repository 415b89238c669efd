/*
 * bits.c - the same bits from the dual simplex for any instruction set.
 *
 * The program prints a hash of the answers of many groups. Without arguments that is all; each
 * argument is another build of it (tests/CMakeLists.txt), which must print the same. 77: this
 * processor lacks what the builds need.
 */
#include <stdio.h>

#include "lp_instance.h"

enum { LINE_SIZE = 64, SKIPPED = 77 };

static uint64_t add(uint64_t sum, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < length; i++)
        sum = (sum ^ at[i]) * 0x100000001b3u;
    return sum;
}

static uint64_t add_answers(uint64_t sum, const instance *in, const answers *a)
{
    size_t lanes = in->group.lanes, columns = (size_t)in->program.columns;
    const lp_layout *layout = &in->layout;
    size_t length = layout->gradients + layout->dimension - layout->states;

    sum = add(sum, a->objective, lanes * sizeof *a->objective);
    sum = add(sum, a->which, lanes * sizeof *a->which);
    sum = add(sum, a->gradient, a->out.bases * length * sizeof *a->gradient);
    sum = add(sum, a->primal, lanes * columns * sizeof *a->primal);
    sum = add(sum, a->duals, lanes * (size_t)in->program.rows * sizeof *a->duals);
    sum = add(sum, a->keep, columns + (size_t)in->program.rows + in->cuts.set_count);
    sum = add(sum, a->tight, in->cuts.count);
    return add(sum, a->hits, in->cuts.count * sizeof *a->hits);
}

/* A group, and the same again from the basis that it kept. */
static uint64_t add_group(uint64_t sum, instance *in, int *optimal)
{
    answers *a = answers_new();
    dual_program *program = NULL;
    dual_work *work = NULL;

    if (dual_program_new(&program, &in->program, &in->layout, NULL) != MCP_OK ||
        dual_work_new(&work, NULL) != MCP_OK)
        abort();
    for (int round = 0; round < 2; round++) {
        lp_status end = dual_solve(program, work, &in->group, &a->out);
        sum = add(sum, &end, sizeof end);
        if (end != LP_OPTIMAL)
            break;
        ++*optimal;
        sum = add_answers(sum, in, a);
        in->group.basis = a->keep;
    }
    dual_program_free(program);
    dual_work_free(work);
    free(a);
    free(in);
    return sum;
}

static void hash(char *line)
{
    uint64_t sum = 0xcbf29ce484222325u;
    int optimal = 0;

    for (uint64_t seed = 1; seed <= 200; seed++) {
        chance c = { .state = seed };
        instance *in = instance_new();
        random_group(in, &c);
        sum = add_group(sum, in, &optimal);
    }
    for (size_t lanes = 1; lanes <= 82; lanes += 9) {
        chance c = { .state = lanes };
        instance *in = instance_new();
        make_brazil(in, lanes, 40 * lanes / 9 * 2, &c);
        sum = add_group(sum, in, &optimal);
    }
    snprintf(line, LINE_SIZE, "%016llx of %d\n", (unsigned long long)sum, optimal);
}

static bool is_capable(void)
{
#if defined __x86_64__ && defined __GNUC__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

int main(int argc, char **argv)
{
    char own[LINE_SIZE], other[LINE_SIZE];
    int wrong = 0;

    if (argc > 1 && !is_capable())
        return SKIPPED;
    hash(own);
    printf("%s", own);
    for (int i = 1; i < argc; i++) {
        FILE *from = popen(argv[i], "r");
        if (!from || !fgets(other, sizeof other, from) || strcmp(own, other) != 0) {
            printf("not so: %s\n", argv[i]);
            wrong++;
        }
        if (from)
            pclose(from);
    }
    return wrong > 0;
}
