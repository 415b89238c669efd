/**
 * config.h - configuration files in TOML 1.0, whose keys a program names beforehand.
 *
 * A key that the program does not name is an error, so a typing error is found, and so is a value
 * of another type. An error names file, line, column and key:
 *
 *     portarium.toml:12:1: mcp.allowed_tols: unknown key; did you mean mcp.allowed_tools?
 *
 *     static const config_key keys[] = {
 *         { .name = "mcp.allowed_tools", .type = CONFIG_STRINGS },
 *         { .name = "executors.*.timeout_s", .type = CONFIG_INT, .min = 1, .max = 3600 },
 *         { .name = "sinks[].topic", .type = CONFIG_STRING },
 *         { 0 }
 *     };
 *     mcp_status st = config_read(&config, "portarium.toml", keys, 0, err);
 *     int64_t timeout_s = config_int(config, "executors.mail.timeout_s", 60);
 *
 * A `*` stands for any name, `[]` for the tables of an array. In a path, a name that has other
 * characters than A-Z a-z 0-9 _ - stands in quotes: executors."a.b".timeout_s.
 *
 * A file has 1 MiB and 10,000 keys at most. What was read never changes, so threads may share it.
 * command_line.h reads values of options from such a file.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"

/** The largest file. */
#define CONFIG_SIZE_MAX ((size_t)1024 * 1024)

typedef struct config config;

typedef enum config_type {
    CONFIG_STRING,
    CONFIG_CHOICE, /* a string, one of `choices` */
    CONFIG_INT,    /* min to max */
    CONFIG_NUMBER, /* an integer or a float */
    CONFIG_BOOL,
    CONFIG_STRINGS, /* a list of strings */
    CONFIG_ANY      /* any value, with all below it */
} config_type;

/** A key that may be in the file. */
typedef struct config_key {
    const char *name; /* NULL ends a table */
    config_type type;
    int64_t min, max;           /* CONFIG_INT; both 0: no bound */
    const char *const *choices; /* CONFIG_CHOICE: ended by NULL */
} config_key;

/** How a file is read, as bits. */
enum config_flags {
    CONFIG_PRIVATE = 1 << 0, /* refused where others than its owner may read or write it */
    CONFIG_OPTIONAL = 1 << 1 /* one that does not exist is an empty one */
};

/**
 * Read a file.
 *
 * @param out  yours, free it with config_free
 * @param keys borrowed while `out` lives
 * @return MCP_OK; MCP_E_NOT_FOUND, MCP_E_DENIED, MCP_E_IO (the file); MCP_E_PARSE (it is no TOML);
 *         MCP_E_PARAMS (an unknown key, a wrong value); MCP_E_LIMIT (too large, too many keys, too
 *         deep); MCP_E_NOMEM
 */
mcp_status config_read(config **out, const char *path, const config_key *keys, unsigned flags,
                       mcp_error *err);

/** The same for a text. @param name stands for the file in messages */
mcp_status config_parse(config **out, const char *text, size_t length, const char *name,
                        const config_key *keys, mcp_error *err);

/** NULL is fine. */
void config_free(config *self);

/* ---- values: `path` names a key with its names; absent ones give NULL or `fallback` ---------- */

const char *config_string(const config *self, const char *path);
int64_t config_int(const config *self, const char *path, int64_t fallback);
double config_number(const config *self, const char *path, double fallback);
bool config_bool(const config *self, const char *path, bool fallback);

/**
 * Any value as JSON: lists, tables, tables of an array; "" is the whole file. Dates are strings.
 *
 * @return NULL: it is absent
 */
const mcp_json *config_value(const config *self, const char *path);

/** Where the file has a key, "portarium.toml:12:1: ", in `arena`. @return NULL: no memory */
const char *config_place(const config *self, const char *path, mcp_arena *arena);

/**
 * Refuse a value that has the right type and is wrong all the same.
 *
 * @param path of the key, `[]` for each array of tables on the way
 * @return MCP_E_PARAMS; the message begins with file, line, column and key
 */
mcp_status config_refuse(const config *self, const char *path, mcp_error *err, const char *format,
                         ...) MCP_PRINTF(4, 5);

#endif
