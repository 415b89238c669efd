/*
 * keys.h - the keys of config.toml, and the origin of their values; private to the settings.
 */
#ifndef CASPARIAN_GATEWAY_KEYS_H
#define CASPARIAN_GATEWAY_KEYS_H

#include "cli/cli.h"
#include "config/config.h"

/* A scalar or a list with its default. */
typedef struct casparian_key {
    config_key key;       /* as in the file */
    const char *standard; /* as text; NULL: absent */
    const char *flag;     /* of the command line; NULL: none */
    const char *variable; /* another variable than CASPARIAN_<TABLE>_<KEY>; NULL: none */
} casparian_key;

/* Ended by a row without a name. */
extern const casparian_key casparian_keys[];

/* Keys that are not scalars of one name: tables of plugins, of signers, of sinks. */
extern const config_key casparian_open_keys[];

/* The value of a key. */
typedef struct casparian_value {
    const casparian_key *row;
    const char *text;   /* of a scalar; NULL: absent, or a list */
    const char *origin; /* "command line", "CASPARIAN_MCP_MAX_ROWS", "config.toml:3:1", "default" */
} casparian_value;

/*
 * Find the values of all keys.
 *
 * @param out   room for as many as casparian_keys has, filled
 * @param line  NULL: none
 * @return MCP_OK; MCP_E_PARAMS: a variable has an invalid value; MCP_E_NOMEM
 */
mcp_status casparian_values_find(casparian_value *out, const config *file, const cli_line *line,
                                 mcp_arena *arena, mcp_error *err);

/* How many keys there are. */
size_t casparian_keys_count(void);

#endif
