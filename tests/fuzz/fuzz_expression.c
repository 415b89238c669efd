/*
 * fuzz_expression.c - any text as the expression of a generic constraint.
 *
 * What reads well is written out again and must read as the same terms; a refusal has its place
 * within the text.
 */
#include <float.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/expression.h"
#include "mcp/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 16 };

static void must(int claim)
{
    if (!claim)
        abort();
}

static void write_term(mcp_buf *buf, const cobre_raw_term *term)
{
    char text[128];
    int length = snprintf(text, sizeof text, "%c %.*g * %s(%lld", term->coefficient < 0 ? '-' : '+',
                          DBL_DECIMAL_DIG, fabs(term->coefficient),
                          cobre_variable_name(term->variable), (long long)term->id);

    if (term->block != COBRE_ABSENT)
        length += snprintf(text + length, sizeof text - (size_t)length, ", %lld",
                           (long long)term->block);
    length += snprintf(text + length, sizeof text - (size_t)length, ")");
    must(mcp_buf_append(buf, text, (size_t)length) == MCP_OK);
}

static void must_read_again(mcp_arena *arena, const cobre_raw_term *terms, size_t count)
{
    cobre_raw_term *again = NULL;
    size_t again_count = 0;
    mcp_buf buf;

    mcp_buf_init(&buf, 16 << 20);
    for (size_t i = 0; i < count; i++)
        write_term(&buf, &terms[i]);
    must(mcp_buf_append(&buf, "", 1) == MCP_OK);
    must(cobre_expression_read(&again, &again_count, arena, buf.data, NULL) == MCP_OK);
    must(again_count == count);
    for (size_t i = 0; i < count; i++)
        must(again[i].variable == terms[i].variable && again[i].id == terms[i].id &&
             again[i].block == terms[i].block && again[i].coefficient == terms[i].coefficient);
    mcp_buf_clear(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mcp_error err = MCP_ERROR_INIT;
    cobre_raw_term *terms = NULL;
    size_t count = 0;

    if (size > INPUT_MAX)
        return 0;
    mcp_arena *arena = mcp_arena_new((size_t)64 << 20);
    must(arena != NULL);
    char *text = mcp_arena_strndup(arena, (const char *)data, size);
    must(text != NULL);
    mcp_status st = cobre_expression_read(&terms, &count, arena, text, &err);
    must(st == MCP_OK || st == MCP_E_PARSE || st == MCP_E_LIMIT);
    if (st == MCP_OK)
        must_read_again(arena, terms, count);
    if (st == MCP_E_PARSE)
        must(err.offset >= 0 && (size_t)err.offset <= strlen(text));
    mcp_arena_free(arena);
    return 0;
}
