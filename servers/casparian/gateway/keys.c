/*
 * keys.c - the table of keys, and the search for their values.
 */
#include "gateway/keys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const trust_modes[] = { "vault_signed_only", NULL };
static const char *const profiles[] = { "default", "readonly", "full", NULL };
static const char *const file_errors[] = { "continue", "fail", NULL };
static const char *const decisions[] = { "elicit", "off", "allow", NULL };
static const char *const redactions[] = { "hash", "truncate", "none", NULL };
static const char *const sandboxes[] = { "best_effort", "required", "off", NULL };
static const char *const sink_modes[] = { "append", "replace", "error", NULL };
static const char *const isolations[] = { "file", "job", "exec", NULL };

#define DAYS_MAX 36500
#define MS_MAX 604800000 /* a week */

#define TEXT(name_, standard_, flag_)                                                              \
    {                                                                                              \
        { name_, CONFIG_STRING, 0, 0, NULL }, standard_, flag_, NULL                               \
    }
#define CHOICE(name_, standard_, flag_, choices_)                                                  \
    {                                                                                              \
        { name_, CONFIG_CHOICE, 0, 0, choices_ }, standard_, flag_, NULL                           \
    }
#define NUMBER(name_, standard_, flag_, min_, max_)                                                \
    {                                                                                              \
        { name_, CONFIG_INT, min_, max_, NULL }, standard_, flag_, NULL                            \
    }
#define PART(name_, standard_)                                                                     \
    {                                                                                              \
        { name_, CONFIG_NUMBER, 0, 100, NULL }, standard_, NULL, NULL                              \
    }
#define FLAG(name_, standard_, flag_, variable_)                                                   \
    {                                                                                              \
        { name_, CONFIG_BOOL, 0, 0, NULL }, standard_, flag_, variable_                            \
    }
#define LIST(name_)                                                                                \
    {                                                                                              \
        { name_, CONFIG_STRINGS, 0, 0, NULL }, NULL, NULL, NULL                                    \
    }

/* clang-format off */
const casparian_key casparian_keys[] = {
    CHOICE("trust.mode", "vault_signed_only", NULL, trust_modes),
    FLAG("trust.allow_unsigned_python", "false", NULL, "CASPARIAN_ALLOW_UNSIGNED_PYTHON"),
    FLAG("trust.allow_unsigned_native", "false", NULL, "CASPARIAN_ALLOW_UNSIGNED_NATIVE"),
    FLAG("trust.allow_dev_plugins", "false", "allow-dev-plugins", "CASPARIAN_ALLOW_DEV_PLUGINS"),
    LIST("trust.allowed_signers"),
    TEXT("trust.signing_key", NULL, NULL),
    { { "mcp.allowed_paths", CONFIG_STRINGS, 0, 0, NULL }, NULL, "allow-path", NULL },
    NUMBER("mcp.max_response_bytes", "1048576", "max-output-bytes", 1024, 16777216),
    NUMBER("mcp.max_rows", "10000", "max-rows", 1, 1000000),
    NUMBER("mcp.max_cell_bytes", "8192", NULL, 16, 1048576),
    NUMBER("mcp.rate_limit_rpm", "1200", NULL, 0, 10000000),
    NUMBER("mcp.expensive_rpm", "240", NULL, 0, 10000000),
    CHOICE("mcp.profile", "default", "profile", profiles),
    LIST("mcp.disabled_tools"),
    NUMBER("jobs.max_concurrent", "1", NULL, 1, 8),
    NUMBER("jobs.max_queued", "100", NULL, 1, 100000),
    NUMBER("jobs.timeout_ms", "1800000", NULL, 100, MS_MAX),
    NUMBER("jobs.stall_ms", "30000", NULL, 100, MS_MAX),
    NUMBER("jobs.ttl_hours", "24", NULL, 1, DAYS_MAX * 24),
    CHOICE("jobs.on_file_error", "continue", NULL, file_errors),
    NUMBER("jobs.shutdown_grace_ms", "2000", NULL, 1, 600000),
    NUMBER("approvals.ttl_s", "3600", NULL, 1, DAYS_MAX * INT64_C(86400)),
    NUMBER("approvals.retention_days", "7", NULL, 1, DAYS_MAX),
    CHOICE("approvals.decide_tool", "elicit", NULL, decisions),
    FLAG("quarantine.allow_quarantine", "false", NULL, NULL),
    PART("quarantine.max_quarantine_pct", "10.0"),
    NUMBER("quarantine.max_quarantine_count", NULL, NULL, 0, INT64_MAX),
    TEXT("quarantine.dir", NULL, NULL),
    CHOICE("redaction.mode", "hash", NULL, redactions),
    CHOICE("redaction.floor", "none", NULL, redactions),
    NUMBER("redaction.max_sample_count", "5", NULL, 0, 20),
    NUMBER("redaction.max_value_length", "100", NULL, 1, 1000),
    NUMBER("redaction.hash_prefix_length", "8", NULL, 4, 64),
    FLAG("redaction.numbers", "false", NULL, NULL),
    FLAG("redaction.patterns", "true", NULL, NULL),
    LIST("redaction.sensitive_columns"),
    LIST("redaction.nonsensitive_columns"),
    FLAG("redaction.protect_sensitive", "true", NULL, NULL),
    TEXT("redaction.hmac_key_file", NULL, NULL),
    NUMBER("query.memory_limit_mb", "512", NULL, 16, 1 << 20),
    NUMBER("query.threads", "2", NULL, 1, 4),
    FLAG("query.isolate", "true", NULL, NULL),
    FLAG("query.expose_control", "false", NULL, NULL),
    NUMBER("query.cache_ttl_s", "300", NULL, 1, 86400),
    NUMBER("query.cache_max_mb", "256", NULL, 1, 1 << 20),
    NUMBER("query.spool_rows", "100000", NULL, 1, 100000000),
    TEXT("audit.path", NULL, "audit-log"),
    FLAG("audit.required", "true", NULL, NULL),
    NUMBER("audit.max_bytes", "10485760", NULL, 16384, INT64_C(1) << 40),
    NUMBER("audit.keep", "10", NULL, 1, 100),
    NUMBER("audit.max_age_days", "90", NULL, 1, DAYS_MAX),
    FLAG("audit.chain", "false", NULL, NULL),
    TEXT("plugins.python", NULL, NULL),
    LIST("plugins.dev_paths"),
    CHOICE("plugins.sandbox", "best_effort", NULL, sandboxes),
    NUMBER("plugins.memory_limit_mb", "2048", NULL, 16, 1 << 20),
    NUMBER("plugins.start_timeout_ms", "30000", NULL, 100, MS_MAX),
    NUMBER("plugins.idle_timeout_ms", "300000", NULL, 100, MS_MAX),
    NUMBER("plugins.file_timeout_ms", "600000", NULL, 100, MS_MAX),
    NUMBER("plugins.scratch_mb", "64", NULL, 1, 1 << 20),
    NUMBER("plugins.output_max_mb", "10240", NULL, 1, 1 << 24),
    NUMBER("ephemeral.ttl_days", "7", NULL, 1, DAYS_MAX),
    { { NULL, CONFIG_ANY, 0, 0, NULL }, NULL, NULL, NULL },
};

const config_key casparian_open_keys[] = {
    { "trust.keys.*", CONFIG_STRING, 0, 0, NULL },
    { "mcp.tools.*", CONFIG_ANY, 0, 0, NULL },
    { "plugins.*.patterns", CONFIG_STRINGS, 0, 0, NULL },
    { "plugins.*.isolation", CONFIG_CHOICE, 0, 0, isolations },
    { "plugins.*.processes", CONFIG_BOOL, 0, 0, NULL },
    { "plugins.*.memory_limit_mb", CONFIG_INT, 16, 1 << 20, NULL },
    { "plugins.*.env.*", CONFIG_STRING, 0, 0, NULL },
    { "sinks[].topic", CONFIG_STRING, 0, 0, NULL },
    { "sinks[].uri", CONFIG_STRING, 0, 0, NULL },
    { "sinks[].mode", CONFIG_CHOICE, 0, 0, sink_modes },
    { NULL, CONFIG_ANY, 0, 0, NULL },
};
/* clang-format on */

size_t casparian_keys_count(void)
{
    return sizeof casparian_keys / sizeof casparian_keys[0] - 1;
}

/* ---- the environment ------------------------------------------------------------------------- */

/* "mcp.max_rows" is CASPARIAN_MCP_MAX_ROWS. */
static const char *variable_of(const char *name, mcp_arena *arena)
{
    char *variable = mcp_arena_printf(arena, "CASPARIAN_%s", name);
    for (char *at = variable; at && *at; at++) {
        if (*at >= 'a' && *at <= 'z')
            *at = (char)(*at - 'a' + 'A');
        else if (*at == '.')
            *at = '_';
    }
    return variable;
}

static bool is_one_of(const char *const *choices, const char *text)
{
    for (; *choices; choices++)
        if (strcmp(*choices, text) == 0)
            return true;
    return false;
}

static mcp_status refuse_variable(const char *variable, const config_key *key, mcp_error *err)
{
    if (key->type == CONFIG_INT)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "the variable %s wants a whole number from %" PRId64 " to %" PRId64,
                             variable, key->min, key->max);
    return mcp_error_set(err, MCP_E_PARAMS, "the variable %s wants %s", variable,
                         key->type == CONFIG_BOOL     ? "true or false"
                         : key->type == CONFIG_NUMBER ? "a number"
                                                      : "one of the key's choices");
}

/* The text as the file would have it; NULL: it is not valid. */
static const char *checked(const config_key *key, const char *text)
{
    static const char *const yes[] = { "1", "true", "yes", NULL };
    static const char *const no[] = { "0", "false", "no", NULL };
    char *end = NULL;
    errno = 0;
    switch (key->type) {
    case CONFIG_BOOL:
        return is_one_of(yes, text) ? "true" : is_one_of(no, text) ? "false" : NULL;
    case CONFIG_INT: {
        long long number = strtoll(text, &end, 10);
        bool is_whole = *text && !*end && errno == 0;
        return is_whole && number >= key->min && number <= key->max ? text : NULL;
    }
    case CONFIG_NUMBER:
        (void)strtod(text, &end);
        return *text && !*end && errno == 0 ? text : NULL;
    case CONFIG_CHOICE:
        return is_one_of(key->choices, text) ? text : NULL;
    default:
        return text;
    }
}

static mcp_status find_variable(casparian_value *out, const char *variable, mcp_error *err)
{
    const char *text = getenv(variable);
    if (!text || !*text)
        return MCP_OK;
    out->text = checked(&out->row->key, text);
    out->origin = variable;
    return out->text ? MCP_OK : refuse_variable(variable, &out->row->key, err);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* A scalar of the file as text; NULL: the file does not have it. */
static const char *text_of(const config *file, const config_key *key, mcp_arena *arena)
{
    const mcp_json *value = config_value(file, key->name);
    if (!value)
        return NULL;
    if (key->type == CONFIG_BOOL)
        return config_bool(file, key->name, false) ? "true" : "false";
    if (key->type == CONFIG_INT)
        return mcp_arena_printf(arena, "%" PRId64, config_int(file, key->name, 0));
    if (key->type == CONFIG_NUMBER)
        return mcp_arena_printf(arena, "%.17g", config_number(file, key->name, 0));
    return mcp_json_string(value, NULL);
}

static const char *place_of(const config *file, const char *name, mcp_arena *arena)
{
    char *place = mcp_arena_strdup(arena, config_place(file, name, arena));
    size_t length = place ? strlen(place) : 0;
    if (length > 2) /* less its ": " */
        place[length - 2] = '\0';
    return place;
}

static mcp_status find_value(casparian_value *out, const config *file, const cli_line *line,
                             mcp_arena *arena, mcp_error *err)
{
    const config_key *key = &out->row->key;
    const char *flag = out->row->flag;
    mcp_status st = MCP_OK;
    if (flag && line && cli_has(line, flag) && cli_given(line, flag)) {
        out->text = key->type == CONFIG_BOOL ? "true"
                    : key->type == CONFIG_INT
                        ? mcp_arena_printf(arena, "%" PRId64, cli_int(line, flag, 0))
                        : cli_string(line, flag);
        out->origin = "command line";
        return MCP_OK;
    }
    bool is_scalar = key->type != CONFIG_STRINGS;
    if (is_scalar)
        st = find_variable(out, variable_of(key->name, arena), err);
    if (st == MCP_OK && !out->text && out->row->variable)
        st = find_variable(out, out->row->variable, err);
    if (st != MCP_OK || out->text)
        return st;
    bool is_in_file = config_value(file, key->name) != NULL;
    out->origin = is_in_file ? place_of(file, key->name, arena) : "default";
    if (is_scalar)
        out->text = is_in_file ? text_of(file, key, arena) : out->row->standard;
    return MCP_OK;
}

mcp_status casparian_values_find(casparian_value *out, const config *file, const cli_line *line,
                                 mcp_arena *arena, mcp_error *err)
{
    for (size_t i = 0; i < casparian_keys_count(); i++) {
        out[i] = (casparian_value){ .row = &casparian_keys[i] };
        mcp_status st = find_value(&out[i], file, line, arena, err);
        if (st != MCP_OK)
            return st;
    }
    return MCP_OK;
}
