/*
 * probe.c - answers questions about dates, decimals and zones on standard input, one a line, for
 * against_python.py. The fields of a line are divided by tabs:
 *
 *     format KIND PATTERN TEXT   -> microseconds, and the offset or -; "no"; "pattern"
 *     decimal P Q TEXT           -> the text of the value; "no"
 *     offset ZONE SECONDS        -> seconds east of UTC
 *     instant ZONE SECONDS       -> seconds since 1970
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/decimal.h"
#include "schema/format.h"
#include "schema/zone.h"

enum { LINE_MAX_BYTES = 4096, FIELDS = 4 };

static mcp_arena *arena;

static void answer_format(char **fields)
{
    const casparian_format *format = NULL;
    casparian_moment moment;
    casparian_temporal kind = (casparian_temporal)atoi(fields[1]);
    if (casparian_format_compile(&format, arena, fields[2], kind, NULL) != MCP_OK) {
        puts("pattern");
        return;
    }
    if (!casparian_format_match(&moment, format, fields[3], strlen(fields[3]))) {
        puts("no");
        return;
    }
    int64_t micros = kind == CASPARIAN_TEMPORAL_TIME ? casparian_time_of(&moment)
                                                     : casparian_micros_of(&moment);
    if (moment.has_offset)
        printf("%" PRId64 " %d\n", micros, (int)moment.offset_s);
    else
        printf("%" PRId64 " -\n", micros);
}

static void answer_decimal(char **fields)
{
    char text[CASPARIAN_DECIMAL_TEXT_SIZE];
    casparian_int128 value = 0;
    const casparian_decimal_type type = { (uint8_t)atoi(fields[1]), (uint8_t)atoi(fields[2]) };
    if (!casparian_decimal_parse(&value, fields[3], strlen(fields[3]), type)) {
        puts("no");
        return;
    }
    casparian_decimal_write(text, value, type.scale);
    puts(text);
}

static void answer_zone(char **fields)
{
    static const casparian_zone *zone;
    static char name[CASPARIAN_ZONE_NAME_SIZE];
    mcp_error err = MCP_ERROR_INIT;
    if (strcmp(name, fields[1]) != 0) {
        snprintf(name, sizeof name, "%s", fields[1]);
        if (casparian_zone_load(&zone, arena, name, &err) != MCP_OK) {
            printf("%s\n", err.message);
            name[0] = '\0';
            return;
        }
    }
    int64_t at = strtoll(fields[2], NULL, 10);
    if (strcmp(fields[0], "offset") == 0)
        printf("%d\n", (int)casparian_zone_offset(zone, at));
    else
        printf("%" PRId64 "\n", casparian_zone_instant(zone, at));
}

int main(void)
{
    char line[LINE_MAX_BYTES];
    arena = mcp_arena_new((size_t)2 << 30);
    while (arena && fgets(line, sizeof line, stdin)) {
        char none[1] = "", *fields[FIELDS] = { none, none, none, none }, *at = line;
        line[strcspn(line, "\n")] = '\0';
        for (int i = 0; i < FIELDS && at; i++) {
            fields[i] = at;
            at = strchr(at, '\t');
            if (at)
                *at++ = '\0';
        }
        if (strcmp(fields[0], "format") == 0)
            answer_format(fields);
        else if (strcmp(fields[0], "decimal") == 0)
            answer_decimal(fields);
        else
            answer_zone(fields);
    }
    mcp_arena_free(arena);
    return 0;
}
