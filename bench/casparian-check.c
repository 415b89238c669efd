/*
 * casparian-check.c - how fast the rows of an output are held against their schema, on one core:
 * ten columns that have the declared types already, ten columns of texts that become them (two
 * decimals, two times, two dates, three integers and a text), and these with a fault in one row of
 * a hundred. Times are processor times of the process; the best of some rounds counts. Meaningful
 * in Release.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check/check.h"
#include "support/scale.h"

enum { ROWS = 10000, COLUMNS = 10, BATCHES = BENCH(100, 2), ROUNDS = BENCH(5, 1), TEXT_MAX = 40 };

static const char schema[] =
    "{\"output_name\":\"o\",\"columns\":["
    "{\"name\":\"c0\",\"type\":\"int64\",\"nullable\":false},"
    "{\"name\":\"c1\",\"type\":{\"kind\":\"decimal\",\"precision\":18,\"scale\":4}},"
    "{\"name\":\"c2\",\"type\":{\"kind\":\"decimal\",\"precision\":12,\"scale\":2}},"
    "{\"name\":\"c3\",\"type\":\"timestamp\",\"format\":\"%d/%m/%Y %H:%M:%S\"},"
    "{\"name\":\"c4\",\"type\":\"timestamp\"},{\"name\":\"c5\",\"type\":\"date\"},"
    "{\"name\":\"c6\",\"type\":\"date\",\"format\":\"%d/%m/%Y\"},"
    "{\"name\":\"c7\",\"type\":\"int64\"},{\"name\":\"c8\",\"type\":\"int64\"},"
    "{\"name\":\"c9\",\"type\":\"string\"}]}";

static void must(mcp_status st, const mcp_error *err)
{
    if (st == MCP_OK)
        return;
    fprintf(stderr, "casparian-check: %s\n", err->message);
    exit(1);
}

static void print_text(char out[TEXT_MAX], size_t column, unsigned row)
{
    unsigned day = row % 28 + 1, month = row % 12 + 1, second = row % 60;
    switch (column) {
    case 1:
        snprintf(out, TEXT_MAX, "%u.%04u", row * 7, row % 10000);
        break;
    case 2:
        snprintf(out, TEXT_MAX, "-%u.%02u", row, row % 100);
        break;
    case 3:
        snprintf(out, TEXT_MAX, "%02u/%02u/2024 10:20:%02u", day, month, second);
        break;
    case 4:
        snprintf(out, TEXT_MAX, "2024-%02u-%02uT10:20:%02u.5", month, day, second);
        break;
    case 5:
        snprintf(out, TEXT_MAX, "2024-%02u-%02u", month, day);
        break;
    case 6:
        snprintf(out, TEXT_MAX, "%02u/%02u/2024", day, month);
        break;
    default:
        snprintf(out, TEXT_MAX, "%u", row * 31);
    }
}

/* @param faults every so many rows the first column has a fault; 0: none */
static casparian_batch make_texts(mcp_arena *arena, unsigned faults)
{
    static const char *const names[] = {
        "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9"
    };
    casparian_vector *columns = mcp_arena_array(arena, COLUMNS, sizeof *columns);
    for (size_t i = 0; i < COLUMNS; i++) {
        uint32_t *offsets = mcp_arena_array(arena, ROWS + 1, sizeof *offsets);
        char *bytes = mcp_arena_array(arena, ROWS, TEXT_MAX);
        for (unsigned row = 0; row < ROWS; row++) {
            char *text = bytes + offsets[row];
            print_text(text, i, row);
            if (i == 0 && faults && row % faults == 0)
                snprintf(text, TEXT_MAX, "none");
            offsets[row + 1] = offsets[row] + (uint32_t)strlen(text);
        }
        columns[i] = (casparian_vector){ .name = names[i],
                                         .type = { .kind = CASPARIAN_KIND_STRING },
                                         .offsets = offsets,
                                         .bytes = bytes };
    }
    return (casparian_batch){ ROWS, COLUMNS, columns };
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Rows a second of the best round. @param last the valid rows of a batch, in `kept` */
static double measure(const casparian_check_options *options, const casparian_batch *batch,
                      casparian_batch *last, mcp_arena *kept)
{
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        casparian_check *check = NULL;
        casparian_checked checked;
        mcp_error err = MCP_ERROR_INIT;
        must(casparian_check_new(&check, options, &err), &err);
        must(casparian_check_begin(check, "f", &err), &err);
        double begin_s = now_s();
        for (int i = 0; i < BATCHES; i++) {
            mcp_arena *arena = mcp_arena_new(0);
            must(casparian_check_batch(check, &checked, batch, arena, &err), &err);
            mcp_arena_free(arena);
        }
        double rate = (double)ROWS * BATCHES / (now_s() - begin_s);
        best = rate > best ? rate : best;
        if (last) {
            must(casparian_check_batch(check, &checked, batch, kept, &err), &err);
            *last = checked.valid;
        }
        casparian_check_free(check);
    }
    return best;
}

int main(void)
{
    /* As the program does. */
    (void)mallopt(M_TRIM_THRESHOLD, 8 << 20);
    (void)mallopt(M_MMAP_THRESHOLD, 2 << 20);
    casparian_redaction redaction;
    casparian_definition definition;
    casparian_batch typed;
    const mcp_json *json = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_arena *arena = mcp_arena_new((size_t)512 << 20);
    must(mcp_json_read(&json, arena, schema, strlen(schema), &err), &err);
    must(casparian_definition_read(&definition, arena, json, NULL, NULL, &err), &err);
    casparian_redaction_read(&redaction, &casparian_redaction_defaults, NULL, NULL);
    casparian_check_options options = { .output = "o",
                                        .definition = &definition,
                                        .redaction = &redaction };
    casparian_batch texts = make_texts(arena, 0), faulty = make_texts(arena, 100);
    double text_rate = measure(&options, &texts, &typed, arena);
    printf("%-48s %12.0f rows/s\n", "ten columns of texts", text_rate);
    printf("%-48s %12.0f rows/s\n", "the same, one row of 100 has a fault",
           measure(&options, &faulty, NULL, arena));
    printf("%-48s %12.0f rows/s (at least 5,000,000)\n", "ten columns as declared",
           measure(&options, &typed, NULL, arena));
    options.has_no_profile = true;
    printf("%-48s %12.0f rows/s\n", "ten columns of texts, without a profile",
           measure(&options, &texts, NULL, arena));
    printf("%-48s %12.0f rows/s\n", "ten columns as declared, without a profile",
           measure(&options, &typed, NULL, arena));
    mcp_arena_free(arena);
    return 0;
}
