/**
 * type.h - the types of columns: their spellings, and one canonical form of each.
 */
#ifndef CASPARIAN_SCHEMA_TYPE_H
#define CASPARIAN_SCHEMA_TYPE_H

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"
#include "schema/decimal.h"

/* clang-format off */
/* The numbers are those of the batches that plugins send (CFB1). */
#define CASPARIAN_KIND_MAP(X) \
    X(NULL, "null") X(BOOLEAN, "boolean") X(INT64, "int64") X(FLOAT64, "float64") \
    X(DECIMAL, "decimal") X(STRING, "string") X(BINARY, "binary") X(DATE, "date") \
    X(TIMESTAMP, "timestamp") X(TIMESTAMP_TZ, "timestamp_tz") X(TIME, "time") \
    X(DURATION, "duration")

/** What a cell is. NULL is the type of a column without any value; nobody declares it. */
typedef enum casparian_kind {
#define CASPARIAN_KIND_VALUE(name, text) CASPARIAN_KIND_##name,
    CASPARIAN_KIND_MAP(CASPARIAN_KIND_VALUE)
#undef CASPARIAN_KIND_VALUE
    CASPARIAN_KIND_COUNT
} casparian_kind;
/* clang-format on */

/** A type. */
typedef struct casparian_type {
    casparian_kind kind;
    casparian_decimal_type decimal; /* of DECIMAL */
    const char *zone; /* of TIMESTAMP_TZ, in its normal form: "UTC", a name, an offset; else NULL */
} casparian_type;

/** "int64", and so on. */
const char *casparian_kind_text(casparian_kind kind);

/** Whether both are the same type with the same parameters. */
bool casparian_type_equal(const casparian_type *a, const casparian_type *b);

/**
 * Read a declared type.
 *
 * Taken are the canonical spellings; objects with `kind` for every type; aliases in any case (bool,
 * integer, int, bigint, float, double, utf8, text, str, varchar, bytes, blob, datetime, interval);
 * "decimal(18,8)" and "timestamp_tz(Europe/Berlin)"; `tz` for `timezone`. A timestamp_tz without a
 * zone is in UTC. The zone must be known to the system (schema/zone.h).
 *
 * @param out strings in the arena
 * @return MCP_OK; MCP_E_PARAMS (err says what is wrong with it); MCP_E_NOMEM
 */
mcp_status casparian_type_read(casparian_type *out, mcp_arena *arena, const mcp_json *json,
                               mcp_error *err);

/** Write the canonical form: a string, or an object with sorted members. */
void casparian_type_write(mcp_json_writer *out, const casparian_type *type);

/** Write the form of the plugin protocol: `tz` where the canonical form has `timezone`. */
void casparian_type_write_protocol(mcp_json_writer *out, const casparian_type *type);

#endif
