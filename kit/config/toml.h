/*
 * toml.h - the seam to toml++: a TOML text as one JSON value, and where its keys stand.
 */
#ifndef CONFIG_TOML_H
#define CONFIG_TOML_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many keys a file may have; how long a path may be; how many names one key may have. */
#define CONFIG_KEYS_MAX 10000
#define CONFIG_PATH_MAX 255
#define CONFIG_DOTS_MAX 8

typedef enum config_kind {
    CONFIG_IS_TABLE,
    CONFIG_IS_TABLES, /* an array of them */
    CONFIG_IS_STRINGS,
    CONFIG_IS_LIST, /* any other array */
    CONFIG_IS_STRING,
    CONFIG_IS_INT,
    CONFIG_IS_FLOAT,
    CONFIG_IS_BOOL,
    CONFIG_IS_TIME
} config_kind;

/* A key of the file. An array of tables has one entry, and its tables' keys have "[]" behind its
 * name. */
typedef struct config_entry {
    struct config_entry *next;
    const char *path;
    config_kind kind;
    int64_t number;   /* CONFIG_IS_INT */
    const char *text; /* CONFIG_IS_STRING */
    int line, column;
} config_entry;

typedef struct config_document {
    const mcp_json *root;
    const config_entry *first; /* in no order */
} config_document;

/*
 * Read a text.
 *
 * @param arena pays for all of `out`
 * @param name  of the file, in messages
 * @return MCP_OK; MCP_E_PARSE; MCP_E_LIMIT; MCP_E_NOMEM
 */
mcp_status config_toml_read(config_document *out, mcp_arena *arena, const char *text, size_t length,
                            const char *name, mcp_error *err);

#ifdef __cplusplus
}
#endif

#endif
