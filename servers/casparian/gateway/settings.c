/*
 * settings.c - from the values of keys to the settings.
 */
#include "gateway/settings.h"

#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "gateway/keys.h"
#include "keys/base64.h"
#include "keys/file.h"
#include "mcp/alloc.h"

#define HMAC_KEY_MAX 4096

/* What casparian_config_open gives, with what it was made of. */
struct whole {
    casparian_config config; /* first */
    mcp_arena *arena;
    config *file;
    casparian_value *values;
    const cli_line *line; /* while it is read */
};

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the settings");
}

/* ---- values ---------------------------------------------------------------------------------- */

static const char *text(const struct whole *self, const char *name)
{
    for (size_t i = 0; i < casparian_keys_count(); i++)
        if (strcmp(self->values[i].row->key.name, name) == 0)
            return self->values[i].text;
    return NULL;
}

static int64_t number(const struct whole *self, const char *name)
{
    const char *value = text(self, name);
    return value ? strtoll(value, NULL, 10) : 0;
}

static bool flag(const struct whole *self, const char *name)
{
    const char *value = text(self, name);
    return value && strcmp(value, "true") == 0;
}

static bool is(const struct whole *self, const char *name, const char *word)
{
    const char *value = text(self, name);
    return value && strcmp(value, word) == 0;
}

/* A list of strings of the file; `out` is untouched where it is absent. */
static mcp_status list(const char *const **out, size_t *count, const struct whole *self,
                       const mcp_json *value, mcp_error *err)
{
    size_t length = mcp_json_count(value);
    if (!value)
        return MCP_OK;
    const char **items = mcp_arena_array(self->arena, length + 1, sizeof *items);
    if (!items)
        return no_memory(err);
    for (size_t i = 0; i < length; i++)
        items[i] = mcp_json_string(mcp_json_item(value, i), NULL);
    *out = items;
    *count = length;
    return MCP_OK;
}

static mcp_status named_list(const char *const **out, size_t *count, const struct whole *self,
                             const char *name, mcp_error *err)
{
    return list(out, count, self, config_value(self->file, name), err);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void fill_work(struct whole *self)
{
    casparian_settings *work = &self->config.work;
    work->jobs = (casparian_jobs_settings){
        .max_concurrent = (int)number(self, "jobs.max_concurrent"),
        .max_queued = (int)number(self, "jobs.max_queued"),
        .timeout_ms = number(self, "jobs.timeout_ms"),
        .stall_ms = number(self, "jobs.stall_ms"),
        .ttl_hours = number(self, "jobs.ttl_hours"),
        .fails_on_file_error = is(self, "jobs.on_file_error", "fail"),
        .shutdown_grace_ms = number(self, "jobs.shutdown_grace_ms"),
    };
    work->approvals = (casparian_approvals_settings){
        .ttl_s = number(self, "approvals.ttl_s"),
        .retention_days = number(self, "approvals.retention_days"),
    };
    work->quarantine = (casparian_quarantine_settings){
        .allow_quarantine = flag(self, "quarantine.allow_quarantine"),
        .has_pct = true,
        .max_quarantine_pct = strtod(text(self, "quarantine.max_quarantine_pct"), NULL),
        .has_count = text(self, "quarantine.max_quarantine_count") != NULL,
        .max_quarantine_count = number(self, "quarantine.max_quarantine_count"),
        .dir = text(self, "quarantine.dir"),
    };
    work->ephemeral_ttl_days = number(self, "ephemeral.ttl_days");
}

static mcp_status fill_env(casparian_plugin_settings *out, const struct whole *self,
                           const mcp_json *env, mcp_error *err)
{
    out->env_count = mcp_json_count(env);
    const char **items = mcp_arena_array(self->arena, out->env_count + 1, sizeof *items);
    if (!items)
        return no_memory(err);
    for (size_t i = 0; i < out->env_count; i++) {
        items[i] = mcp_arena_printf(self->arena, "%s=%s", mcp_json_name(env, i, NULL),
                                    mcp_json_string(mcp_json_item(env, i), NULL));
        if (!items[i])
            return no_memory(err);
    }
    out->env = items;
    return MCP_OK;
}

static mcp_status fill_plugin(casparian_plugin_settings *out, const struct whole *self,
                              const char *id, const mcp_json *table, mcp_error *err)
{
    const char *isolation = mcp_json_get_string(table, "isolation");
    out->id = id;
    if (isolation)
        out->isolation = strcmp(isolation, "job") == 0    ? CASPARIAN_PER_JOB
                         : strcmp(isolation, "exec") == 0 ? CASPARIAN_PER_EXEC
                                                          : CASPARIAN_PER_FILE;
    mcp_json_bool(mcp_json_get(table, "processes"), &out->may_start_processes);
    mcp_json_int(mcp_json_get(table, "memory_limit_mb"), &out->memory_limit_mb);
    mcp_status st = list(&out->patterns, &out->pattern_count, self, mcp_json_get(table, "patterns"),
                         err);
    return st == MCP_OK ? fill_env(out, self, mcp_json_get(table, "env"), err) : st;
}

/* The tables among the members of [plugins]. */
static mcp_status fill_each_plugin(struct whole *self, mcp_error *err)
{
    casparian_plugins_settings *plugins = &self->config.work.plugins;
    const mcp_json *all = config_value(self->file, "plugins");
    casparian_plugin_settings *each = mcp_arena_array(self->arena, mcp_json_count(all) + 1,
                                                      sizeof *each);
    mcp_status st = each ? MCP_OK : no_memory(err);
    for (size_t i = 0; st == MCP_OK && i < mcp_json_count(all); i++) {
        const mcp_json *table = mcp_json_item(all, i);
        const char *id = mcp_json_name(all, i, NULL);
        if (!mcp_json_is_object(table))
            continue;
        st = fill_plugin(&each[plugins->count++], self, id, table, err);
    }
    plugins->each = each;
    return st;
}

static mcp_status fill_plugins(struct whole *self, mcp_error *err)
{
    casparian_plugins_settings *plugins = &self->config.work.plugins;
    *plugins = (casparian_plugins_settings){
        .python = text(self, "plugins.python"),
        .sandbox = text(self, "plugins.sandbox"),
        .memory_limit_mb = number(self, "plugins.memory_limit_mb"),
        .start_timeout_ms = number(self, "plugins.start_timeout_ms"),
        .idle_timeout_ms = number(self, "plugins.idle_timeout_ms"),
        .file_timeout_ms = number(self, "plugins.file_timeout_ms"),
        .scratch_mb = number(self, "plugins.scratch_mb"),
        .output_max_mb = number(self, "plugins.output_max_mb"),
    };
    mcp_status st = named_list(&plugins->dev_paths, &plugins->dev_path_count, self,
                               "plugins.dev_paths", err);
    return st == MCP_OK ? fill_each_plugin(self, err) : st;
}

/* The keys of the allowed signers. */
static mcp_status fill_trust(struct whole *self, mcp_error *err)
{
    casparian_trust_settings *trust = &self->config.trust;
    const mcp_json *names = config_value(self->file, "trust.allowed_signers");
    const mcp_json *keys = config_value(self->file, "trust.keys");
    casparian_signer *signers = mcp_arena_array(self->arena, mcp_json_count(names) + 1,
                                                sizeof *signers);
    if (!signers)
        return no_memory(err);
    for (size_t i = 0; i < mcp_json_count(names); i++) {
        casparian_signer *signer = &signers[i];
        signer->name = mcp_json_string(mcp_json_item(names, i), NULL);
        size_t length = 0;
        const char *key = mcp_json_string(mcp_json_get(keys, signer->name), &length);
        if (!key)
            return config_refuse(self->file, "trust.allowed_signers", err,
                                 "there is no key of '%s' in [trust.keys]", signer->name);
        if (!keys_unbase64_exact(signer->key, sizeof signer->key, key, length))
            return config_refuse(self->file, "trust.keys", err,
                                 "the key of '%s' is not %zu bytes in base64", signer->name,
                                 sizeof signer->key);
    }
    *trust = (casparian_trust_settings){
        .mode = text(self, "trust.mode"),
        .allow_unsigned_python = flag(self, "trust.allow_unsigned_python"),
        .allow_unsigned_native = flag(self, "trust.allow_unsigned_native"),
        .allow_dev_plugins = flag(self, "trust.allow_dev_plugins"),
        .signers = signers,
        .signer_count = mcp_json_count(names),
        .signing_key = text(self, "trust.signing_key"),
    };
    return MCP_OK;
}

/* The arguments and --allow-path, else the file's, else the current folder. */
static mcp_status fill_paths(struct whole *self, mcp_error *err)
{
    static const char *const current[] = { "." };
    casparian_mcp_settings *mcp = &self->config.mcp;
    const cli_line *line = self->line;
    bool is_serve = line && cli_has(line, "allow-path");
    size_t arguments = is_serve ? cli_argument_count(line) : 0, given = 0;
    mcp->allowed_paths = current;
    mcp->allowed_path_count = 1;
    if (!is_serve || (arguments == 0 && !cli_item(line, "allow-path", 0))) {
        mcp_status st = named_list(&mcp->allowed_paths, &mcp->allowed_path_count, self,
                                   "mcp.allowed_paths", err);
        if (st == MCP_OK && mcp->allowed_path_count == 0)
            return config_refuse(self->file, "mcp.allowed_paths", err, "names no directory");
        return st;
    }
    while (cli_item(line, "allow-path", given))
        given++;
    const char **paths = mcp_arena_array(self->arena, arguments + given, sizeof *paths);
    if (!paths)
        return no_memory(err);
    for (size_t i = 0; i < arguments; i++)
        paths[i] = cli_argument(line, i);
    for (size_t i = 0; i < given; i++)
        paths[arguments + i] = cli_item(line, "allow-path", i);
    mcp->allowed_paths = paths;
    mcp->allowed_path_count = arguments + given;
    return MCP_OK;
}

static mcp_status fill_mcp(struct whole *self, mcp_error *err)
{
    casparian_mcp_settings *mcp = &self->config.mcp;
    *mcp = (casparian_mcp_settings){
        .max_response_bytes = (size_t)number(self, "mcp.max_response_bytes"),
        .max_rows = number(self, "mcp.max_rows"),
        .max_cell_bytes = (size_t)number(self, "mcp.max_cell_bytes"),
        .rate_limit_rpm = number(self, "mcp.rate_limit_rpm"),
        .expensive_rpm = number(self, "mcp.expensive_rpm"),
        .profile = is(self, "mcp.profile", "readonly") ? CASPARIAN_PROFILE_READONLY
                   : is(self, "mcp.profile", "full")   ? CASPARIAN_PROFILE_FULL
                                                       : CASPARIAN_PROFILE_DEFAULT,
        .tools = config_value(self->file, "mcp.tools"),
    };
    mcp_status st = named_list(&mcp->disabled_tools, &mcp->disabled_tool_count, self,
                               "mcp.disabled_tools", err);
    return st == MCP_OK ? fill_paths(self, err) : st;
}

/* --allow-tool-approval and the profile "full" decide, too. */
static void fill_decide(struct whole *self)
{
    const cli_line *line = self->line;
    bool is_flag = line && cli_has(line, "allow-tool-approval") &&
                   cli_flag(line, "allow-tool-approval");
    casparian_decide_mode *decide = &self->config.decide;
    if (is_flag || self->config.mcp.profile == CASPARIAN_PROFILE_FULL)
        *decide = CASPARIAN_DECIDE_ALLOW;
    else if (is(self, "approvals.decide_tool", "allow"))
        *decide = CASPARIAN_DECIDE_ALLOW;
    else if (is(self, "approvals.decide_tool", "off"))
        *decide = CASPARIAN_DECIDE_OFF;
}

static mcp_status fill_hmac(struct whole *self, mcp_error *err)
{
    casparian_redaction_settings *redaction = &self->config.redaction;
    const char *path = text(self, "redaction.hmac_key_file");
    if (!path)
        return MCP_OK;
    uint8_t *key = mcp_arena_alloc(self->arena, HMAC_KEY_MAX);
    if (!key)
        return no_memory(err);
    mcp_status st = keys_file_read(key, HMAC_KEY_MAX, &redaction->hmac_key_length, path, err);
    if (st == MCP_OK && redaction->hmac_key_length == 0)
        return mcp_error_set(err, MCP_E_PARAMS, "redaction.hmac_key_file: '%s' is empty", path);
    redaction->hmac_key = key;
    return st;
}

static casparian_redaction_mode redaction_mode(const char *word)
{
    if (strcmp(word, "none") == 0)
        return CASPARIAN_REDACTION_NONE;
    return strcmp(word, "hash") == 0 ? CASPARIAN_REDACTION_HASH : CASPARIAN_REDACTION_TRUNCATE;
}

static mcp_status fill_redaction(struct whole *self, mcp_error *err)
{
    casparian_redaction_settings *redaction = &self->config.redaction;
    *redaction = (casparian_redaction_settings){
        .max_sample_count = (int)number(self, "redaction.max_sample_count"),
        .max_value_length = (int)number(self, "redaction.max_value_length"),
        .hash_prefix_length = (int)number(self, "redaction.hash_prefix_length"),
        .numbers = flag(self, "redaction.numbers"),
        .patterns = flag(self, "redaction.patterns"),
        .protect_sensitive = flag(self, "redaction.protect_sensitive"),
    };
    redaction->mode = redaction_mode(text(self, "redaction.mode"));
    redaction->floor = redaction_mode(text(self, "redaction.floor"));
    mcp_status st = named_list(&redaction->sensitive, &redaction->sensitive_count, self,
                               "redaction.sensitive_columns", err);
    if (st == MCP_OK)
        st = named_list(&redaction->nonsensitive, &redaction->nonsensitive_count, self,
                        "redaction.nonsensitive_columns", err);
    return st == MCP_OK ? fill_hmac(self, err) : st;
}

static void fill_rest(struct whole *self)
{
    self->config.query = (casparian_query_settings){
        .memory_limit_mb = number(self, "query.memory_limit_mb"),
        .threads = (int)number(self, "query.threads"),
        .is_unprotected = !flag(self, "query.isolate"),
        .cache_ttl_ms = number(self, "query.cache_ttl_s") * 1000,
        .cache_mb = number(self, "query.cache_max_mb"),
        .spool_rows = number(self, "query.spool_rows"),
    };
    self->config.query_exposes_control = flag(self, "query.expose_control");
    self->config.audit = (casparian_audit_settings){
        .path = text(self, "audit.path"),
        .is_required = flag(self, "audit.required"),
        .file = { .max_bytes = number(self, "audit.max_bytes"),
                  .keep = (int)number(self, "audit.keep"),
                  .max_age_days = (int)number(self, "audit.max_age_days"),
                  .is_chained = flag(self, "audit.chain") },
    };
}

static mcp_status fill_sinks(struct whole *self, mcp_error *err)
{
    const mcp_json *all = config_value(self->file, "sinks");
    self->config.sink_count = mcp_json_count(all);
    casparian_route *sinks = mcp_arena_array(self->arena, self->config.sink_count + 1,
                                             sizeof *sinks);
    if (!sinks)
        return no_memory(err);
    for (size_t i = 0; i < self->config.sink_count; i++) {
        const mcp_json *sink = mcp_json_item(all, i);
        casparian_sink_uri read;
        mcp_error why = MCP_ERROR_INIT;
        sinks[i] = (casparian_route){ .topic = mcp_json_get_string(sink, "topic"),
                                      .uri = mcp_json_get_string(sink, "uri"),
                                      .mode = mcp_json_get_string(sink, "mode") };
        if (!sinks[i].topic || !sinks[i].uri)
            return config_refuse(self->file, "sinks", err,
                                 "a sink requires the keys topic and uri");
        if (casparian_route_sink(&read, self->arena, &sinks[i], "/", &why) != MCP_OK)
            return config_refuse(self->file, "sinks", err, "the sink of the topic '%s': %s",
                                 sinks[i].topic, why.message);
    }
    self->config.sinks = sinks;
    return MCP_OK;
}

static mcp_status fill_all(struct whole *self, mcp_error *err)
{
    fill_work(self);
    fill_rest(self);
    double part = self->config.work.quarantine.max_quarantine_pct;
    if (!(part >= 0 && part <= 100))
        return config_refuse(self->file, "quarantine.max_quarantine_pct", err,
                             "wants a number from 0 to 100");
    mcp_status st = fill_plugins(self, err);
    if (st == MCP_OK)
        st = fill_trust(self, err);
    if (st == MCP_OK)
        st = fill_mcp(self, err);
    if (st == MCP_OK)
        st = fill_redaction(self, err);
    if (st == MCP_OK)
        st = fill_sinks(self, err);
    if (st == MCP_OK)
        fill_decide(self);
    return st;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The keys of the file: all of the table, then those without a default. */
static const config_key *file_keys(mcp_arena *arena)
{
    size_t count = casparian_keys_count(), more = 0;
    while (casparian_open_keys[more].name)
        more++;
    config_key *keys = mcp_arena_array(arena, count + more + 1, sizeof *keys);
    for (size_t i = 0; keys && i < count; i++)
        keys[i] = casparian_keys[i].key;
    if (keys)
        memcpy(keys + count, casparian_open_keys, (more + 1) * sizeof *keys);
    return keys;
}

static mcp_status read_all(struct whole *self, const char *path, unsigned flags, mcp_error *err)
{
    self->arena = mcp_arena_new(0);
    const config_key *keys = self->arena ? file_keys(self->arena) : NULL;
    self->values = keys ? mcp_arena_array(self->arena, casparian_keys_count(), sizeof *self->values)
                        : NULL;
    if (!self->values)
        return no_memory(err);
    mcp_status st = config_read(&self->file, path, keys, flags, err);
    if (st == MCP_OK)
        st = casparian_values_find(self->values, self->file, self->line, self->arena, err);
    return st == MCP_OK ? fill_all(self, err) : st;
}

mcp_status casparian_config_open(casparian_config **out, const char *path, unsigned flags,
                                 const cli_line *line, mcp_error *err)
{
    struct whole *self = mcp_alloc_zeroed(1, sizeof *self);
    if (!self)
        return no_memory(err);
    self->line = line;
    mcp_status st = read_all(self, path, flags, err);
    self->line = NULL;
    if (st != MCP_OK) {
        casparian_config_free(&self->config);
        return st;
    }
    *out = &self->config;
    return MCP_OK;
}

void casparian_config_free(casparian_config *self)
{
    struct whole *whole = (struct whole *)self;
    if (!whole)
        return;
    config_free(whole->file);
    mcp_arena_free(whole->arena);
    free(whole);
}

/* ---- showing --------------------------------------------------------------------------------- */

static void write_value(mcp_json_writer *json, const struct whole *self,
                        const casparian_value *value)
{
    const config_key *key = &value->row->key;
    mcp_write_name(json, "value");
    if (strcmp(key->name, "mcp.allowed_paths") == 0) {
        mcp_write_array(json);
        for (size_t i = 0; i < self->config.mcp.allowed_path_count; i++)
            mcp_write_string(json, self->config.mcp.allowed_paths[i]);
        mcp_write_end(json);
    } else if (key->type == CONFIG_STRINGS && !config_value(self->file, key->name)) {
        mcp_write_array(json);
        mcp_write_end(json);
    } else if (key->type == CONFIG_STRINGS) {
        mcp_write_value(json, config_value(self->file, key->name));
    } else if (!value->text) {
        mcp_write_null(json);
    } else if (key->type == CONFIG_BOOL) {
        mcp_write_bool(json, strcmp(value->text, "true") == 0);
    } else if (key->type == CONFIG_INT) {
        mcp_write_int(json, strtoll(value->text, NULL, 10));
    } else if (key->type == CONFIG_NUMBER) {
        mcp_write_double_or_null(json, strtod(value->text, NULL));
    } else {
        mcp_write_string(json, value->text);
    }
}

void casparian_config_write(mcp_json_writer *json, const casparian_config *self)
{
    const struct whole *whole = (const struct whole *)self;
    for (size_t i = 0; i < casparian_keys_count(); i++) {
        mcp_write_member_object(json, whole->values[i].row->key.name);
        write_value(json, whole, &whole->values[i]);
        mcp_write_member_string(json, "origin", whole->values[i].origin);
        mcp_write_end(json);
    }
}
