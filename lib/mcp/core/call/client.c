/*
 * client.c - the words of initialize, between JSON and what handlers read; whose call it is.
 *
 * Capabilities are read once, when they are declared, so that handlers on their threads read a
 * number. Those that the library uses have a row; others are ignored.
 *
 * A call outlives the request that it came by, so it has its own copy of the principal. Scopes are
 * compared as whole words: what one scope includes of another is the authorization server's to say,
 * by granting both.
 */
#include "mcp/core/call/client.h"

#include <string.h>

#include "base/utf8.h"
#include "mcp/core/version.h"

#define NAME_MAX_BYTES 127

/* ---- capabilities of the client -------------------------------------------------------------- */

static const struct capability {
    unsigned bit;
    const char *group;
    const char *member; /* NULL: the presence of the group is enough */
} capabilities[] = {
    { MCP_CLIENT_ROOTS, "roots", NULL },
    { MCP_CLIENT_SAMPLING, "sampling", NULL },
    { MCP_CLIENT_SAMPLING_TOOLS, "sampling", "tools" },
    { MCP_CLIENT_ELICITATION, "elicitation", "form" },
    { MCP_CLIENT_ELICITATION_URL, "elicitation", "url" },
    { MCP_CLIENT_TASKS, "extensions", "io.modelcontextprotocol/tasks" },
    { MCP_CLIENT_UI, "extensions", "io.modelcontextprotocol/ui" },
};

#define COUNT (sizeof capabilities / sizeof capabilities[0])

/* An empty `elicitation` means forms: they are older than URLs. */
static bool has(const mcp_json *group, const struct capability *capability)
{
    if (!mcp_json_is_object(group))
        return false;
    if (!capability->member || mcp_json_is_object(mcp_json_get(group, capability->member)))
        return true;
    return capability->bit == MCP_CLIENT_ELICITATION && mcp_json_count(group) == 0;
}

unsigned mcp__client_read(const mcp_json *declared)
{
    unsigned bits = 0;

    for (size_t i = 0; i < COUNT; i++)
        if (has(mcp_json_get(declared, capabilities[i].group), &capabilities[i]))
            bits |= capabilities[i].bit;
    return bits;
}

void mcp__client_write(mcp_json_writer *writer, unsigned bits)
{
    const char *open = NULL;

    for (size_t i = 0; i < COUNT; i++) {
        const struct capability *capability = &capabilities[i];
        if (!(bits & capability->bit))
            continue;
        if (!open || strcmp(open, capability->group) != 0) {
            if (open)
                mcp_write_end(writer);
            open = capability->group;
            mcp_write_member_object(writer, open);
        }
        if (capability->member && capability->bit != MCP_CLIENT_ELICITATION) {
            mcp_write_member_object(writer, capability->member);
            mcp_write_end(writer);
        }
    }
    if (open)
        mcp_write_end(writer);
}

bool mcp_call_client_can(const mcp_call *call, unsigned needed)
{
    return (call->request.client_can & needed) == needed;
}

mcp_status mcp_call_require(mcp_call *call, unsigned needed)
{
    unsigned missing = needed & ~call->request.client_can;
    mcp_json_writer *data;

    if (!missing)
        return MCP_OK;
    mcp_buf_reset(&call->answer.error_data.text); /* of an earlier request that could not be made */
    call->answer.error_data.holds = MCP__DRAFT_EMPTY;
    data = mcp_call_error_data(call);
    mcp_write_member_object(data, "requiredCapabilities");
    mcp__client_write(data, missing);
    mcp_write_end(data);
    return mcp_error_set(&call->err, MCP_E_CAPABILITY,
                         "%s needs a capability that the client did not declare",
                         mcp_call_name(call));
}

/* ---- the client's Implementation object ------------------------------------------------------ */

/* Controls, line separators and marks of direction: a name must not move a terminal's cursor, nor
   change the order of the words around it. */
static bool is_obeyed_by_terminals(uint32_t point)
{
    return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x61C || point == 0x200E ||
           point == 0x200F || (point >= 0x2028 && point <= 0x202E) ||
           (point >= 0x2066 && point <= 0x2069) || point == 0xFEFF;
}

/* A name in the arena's memory; *out is NULL where the client says none. */
static mcp_status read_name(const char **out, mcp_arena *arena, const mcp_json *text)
{
    size_t length = 0, at = 0;
    const char *given = mcp_json_string(text, &length);

    *out = NULL;
    length = given ? mcp__utf8_cut(given, length, NAME_MAX_BYTES) : 0;
    if (length == 0)
        return MCP_OK;
    char *name = mcp_arena_alloc(arena, length + 1);
    if (!name)
        return MCP_E_NOMEM;
    *out = name;
    while (at < length) {
        uint32_t point = 0;
        size_t size = mcp__utf8_next(given + at, length - at, &point);
        if (size == 0 || is_obeyed_by_terminals(point))
            *name++ = '?';
        else
            for (size_t i = 0; i < size; i++)
                *name++ = given[at + i];
        at += size > 0 ? size : 1;
    }
    *name = '\0';
    return MCP_OK;
}

mcp_status mcp__client_names_read(mcp__client_names *out, mcp_arena *arena, const mcp_json *info)
{
    mcp_status st = read_name(&out->name, arena, mcp_json_get(info, "name"));

    return st == MCP_OK ? read_name(&out->version, arena, mcp_json_get(info, "version")) : st;
}

static mcp_status copy_name(const char **out, mcp_arena *arena, const char *name)
{
    *out = name ? mcp_arena_strdup(arena, name) : NULL;
    return name && !*out ? MCP_E_NOMEM : MCP_OK;
}

mcp_status mcp__client_names_copy(mcp__client_names *out, mcp_arena *arena,
                                  const mcp__client_names *names)
{
    mcp_status st = copy_name(&out->name, arena, names->name);

    return st == MCP_OK ? copy_name(&out->version, arena, names->version) : st;
}

const char *mcp_call_client_name(const mcp_call *call)
{
    return call->request.client.name;
}

const char *mcp_call_client_version(const mcp_call *call)
{
    return call->request.client.version;
}

/* ---- levels of log messages ------------------------------------------------------------------ */

static const char *const level_names[] = {
    [MCP_LEVEL_NONE] = "",
    [MCP_LEVEL_DEBUG] = "debug",
    [MCP_LEVEL_INFO] = "info",
    [MCP_LEVEL_NOTICE] = "notice",
    [MCP_LEVEL_WARNING] = "warning",
    [MCP_LEVEL_ERROR] = "error",
    [MCP_LEVEL_CRITICAL] = "critical",
    [MCP_LEVEL_ALERT] = "alert",
    [MCP_LEVEL_EMERGENCY] = "emergency",
};

const char *mcp_level_name(mcp_level level)
{
    return (int)level < 0 || level > MCP_LEVEL_EMERGENCY ? "" : level_names[level];
}

mcp_level mcp_level_find(const char *name)
{
    for (int level = MCP_LEVEL_DEBUG; name && level <= MCP_LEVEL_EMERGENCY; level++)
        if (strcmp(level_names[level], name) == 0)
            return (mcp_level)level;
    return MCP_LEVEL_NONE;
}

/* ---- the server's Implementation object ------------------------------------------------------ */

static void write_known(mcp_json_writer *writer, const char *member, const char *text,
                        mcp_revision revision)
{
    if (text && mcp__field_is_known("Implementation", member, revision))
        mcp_write_member_string(writer, member, text);
}

void mcp__client_write_identity(mcp_json_writer *writer, const mcp_server_options *options,
                                mcp_revision revision, bool with_icons)
{
    mcp_write_object(writer);
    mcp_write_member_string(writer, "name", options->name);
    mcp_write_member_string(writer, "version", options->version);
    write_known(writer, "title", options->title, revision);
    write_known(writer, "description", options->description, revision);
    write_known(writer, "websiteUrl", options->website_url, revision);
    if (with_icons && options->icons && mcp__field_is_known("Implementation", "icons", revision)) {
        mcp_write_name(writer, "icons");
        mcp_write_raw(writer, options->icons, strlen(options->icons));
    }
    mcp_write_end(writer);
}

/* ---- principal and scopes -------------------------------------------------------------------- */

const mcp_principal *mcp__principal_copy(mcp_arena *arena, const mcp_principal *principal,
                                         bool *is_lost)
{
    *is_lost = false;
    if (!principal)
        return NULL;
    mcp_principal *copy = mcp_arena_alloc(arena, sizeof *copy);
    char *name = mcp_arena_strdup(arena, principal->name);
    char *scopes = mcp_arena_strdup(arena, principal->scopes ? principal->scopes : "");
    *is_lost = !copy || !name || !scopes;
    if (*is_lost)
        return NULL;
    *copy = (mcp_principal){ name, scopes, principal->expires_ms };
    return copy;
}

/* The length of the next word of a list, which *at is moved to; 0: there is none. */
static size_t next_scope(const char **at)
{
    *at += strspn(*at, " ");
    return strcspn(*at, " ");
}

bool mcp__scopes_have(const char *list, const char *word, size_t length)
{
    for (size_t n = next_scope(&list); n > 0; list += n, n = next_scope(&list))
        if (n == length && memcmp(list, word, length) == 0)
            return true;
    return false;
}

void mcp__scopes_add(mcp_buf *out, const char *scopes)
{
    for (size_t n = next_scope(&scopes); n > 0; scopes += n, n = next_scope(&scopes)) {
        if (mcp__scopes_have(out->length > 0 ? out->data : "", scopes, n))
            continue;
        if (out->length > 0)
            (void)mcp_buf_putc(out, ' ');
        (void)mcp_buf_append(out, scopes, n);
    }
}

bool mcp__scopes_cover(const char *scopes, const char *wanted)
{
    for (size_t n = next_scope(&wanted); n > 0; wanted += n, n = next_scope(&wanted))
        if (!mcp__scopes_have(scopes, wanted, n))
            return false;
    return true;
}

const char *mcp_call_principal(const mcp_call *call)
{
    return call->principal ? call->principal->name : NULL;
}

const char *mcp_call_scopes(const mcp_call *call)
{
    return call->principal ? call->principal->scopes : NULL;
}

bool mcp_call_has_scopes(const mcp_call *call, const char *scopes)
{
    return !call->principal || !scopes || mcp__scopes_cover(call->principal->scopes, scopes);
}

mcp_status mcp_call_require_scopes(mcp_call *call, const char *scopes)
{
    if (mcp_call_has_scopes(call, scopes))
        return MCP_OK;
    call->answer.scopes_needed = mcp_arena_strdup(call->arena, scopes);
    return mcp_error_set(&call->err, MCP_E_SCOPE, "%s: %s", mcp_status_words(MCP_E_SCOPE), scopes);
}
