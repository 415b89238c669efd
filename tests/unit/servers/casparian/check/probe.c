/*
 * probe.c - converts cells for against_python.py. A line of standard input is a column of a schema
 * and rows of it, both JSON, divided by a tab; the answer is one line: for each row, divided by
 * tabs, the text of the value (the bits of a float64 in hexadecimal), "null", or the violation.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check/convert.h"
#include "check/text.h"
#include "rows.h"

enum { LINE_MAX_BYTES = 1 << 16 };

static const mcp_json *json_of(mcp_arena *arena, const char *text)
{
    const mcp_json *json = NULL;
    mcp_error err = MCP_ERROR_INIT;
    if (mcp_json_read(&json, arena, text, strlen(text), &err) != MCP_OK) {
        fprintf(stderr, "probe: %s: %s\n", text, err.message);
        exit(2);
    }
    return json;
}

static void print_cell(const casparian_converted *converted, const casparian_zone *zone, size_t row)
{
    casparian_cell cell = casparian_vector_cell(&converted->vector, row);
    uint64_t bits;
    mcp_buf text;
    if (converted->failed && converted->failed[row]) {
        fputs(casparian_violation_text((casparian_violation)(converted->failed[row] - 1)), stdout);
    } else if (cell.kind == CASPARIAN_KIND_NULL) {
        fputs("null", stdout);
    } else if (cell.kind == CASPARIAN_KIND_FLOAT64) {
        memcpy(&bits, &cell.number, sizeof bits);
        printf("%016" PRIx64, bits);
    } else {
        mcp_buf_init(&text, LINE_MAX_BYTES);
        rows_must(casparian_text_append(&text, &cell, zone) == MCP_OK);
        fwrite(text.data ? text.data : "", 1, text.length, stdout);
        mcp_buf_clear(&text);
    }
}

static void answer(char *line)
{
    mcp_arena *arena = mcp_arena_new(0);
    char schema[1024];
    char *rows = strchr(line, '\t');
    casparian_definition definition;
    casparian_converter converter;
    casparian_converted converted;
    *rows++ = '\0';
    snprintf(schema, sizeof schema, "{\"output_name\":\"o\",\"columns\":[%s]}", line);
    rows_must(casparian_definition_read(&definition, arena, json_of(arena, schema), NULL, NULL,
                                        NULL) == MCP_OK);
    rows_must(casparian_converter_init(&converter, arena, &definition.columns[0], NULL) == MCP_OK);
    casparian_batch batch = batch_of(json_of(arena, rows), arena);
    rows_must(casparian_convert(&converter, &converted, &batch.columns[0], batch.rows, arena,
                                NULL) == MCP_OK);
    for (size_t row = 0; row < batch.rows; row++) {
        print_cell(&converted, converter.zone, row);
        putchar(row + 1 < batch.rows ? '\t' : '\n');
    }
    mcp_arena_free(arena);
}

int main(void)
{
    static char line[LINE_MAX_BYTES];
    while (fgets(line, sizeof line, stdin))
        answer(line);
    return 0;
}
