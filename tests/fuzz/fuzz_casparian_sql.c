/*
 * fuzz_casparian_sql.c - any bytes as a client's SQL.
 *
 * What the guard passes, it passes again without what is around it, and the words that are visited
 * are within the statement.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "query/guard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct bounds {
    const char *from, *until;
} bounds;

static void must(bool claim)
{
    if (!claim)
        abort();
}

static void visit(void *data, const casparian_guard_name *name)
{
    const bounds *within = data;
    must(name->text >= within->from && name->length <= (size_t)(within->until - name->text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *sql = (const char *)data;
    casparian_guarded first;
    casparian_guarded second;

    if (casparian_guard(&first, sql, size, NULL) != MCP_OK)
        return 0;
    must(first.from < first.until && first.until <= size);
    bounds within = { sql, sql + size };
    casparian_guard_names(sql, size, visit, &within);
    must(casparian_guard(&second, sql + first.from, first.until - first.from, NULL) == MCP_OK);
    must(!second.is_explain && second.from == 0 && second.until == first.until - first.from);
    return 0;
}
