/*
 * plugin.c - ids and versions of plugins.
 */
#include "plugins/plugin.h"

#include <string.h>
#include <unistd.h>

const char *casparian_runtime_text(casparian_runtime runtime)
{
    return runtime == CASPARIAN_NATIVE ? "native" : "python";
}

const char *casparian_origin_text(casparian_origin origin)
{
    static const char *const texts[] = { "shipped", "installed", "dev" };
    return texts[origin];
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

bool casparian_plugin_id_is_valid(const char *id)
{
    size_t length = strlen(id);
    if (length == 0 || length > CASPARIAN_PLUGIN_ID_MAX || !is_lower(id[0]))
        return false;
    for (size_t i = 1; i < length; i++) {
        if (!is_lower(id[i]) && !is_digit(id[i]) && id[i] != '_')
            return false;
    }
    return true;
}

mcp_status casparian_plugin_host(const char **out, mcp_arena *arena, const char *entrypoint,
                                 const char *shipped, mcp_error *err)
{
    size_t length = strlen(entrypoint);
    *out = NULL;
    if (length <= 3 || strcmp(entrypoint + length - 3, ".so") != 0)
        return MCP_OK;
    if (!shipped)
        return mcp_error_set(err, MCP_E_UNSUPPORTED,
                             "%s is a shared library, and no plugin_host is installed to load it",
                             entrypoint);
    *out = mcp_arena_printf(arena, "%s/../host/plugin_host", shipped);
    if (!*out)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a path");
    return access(*out, X_OK) == 0
               ? MCP_OK
               : mcp_error_set(err, MCP_E_UNSUPPORTED,
                               "%s is a shared library, and %s, which loads such, cannot be run",
                               entrypoint, *out);
}

/* ---- Semantic Versioning 2.0 ----------------------------------------------------------------- */

/* An identifier between points. */
struct part {
    const char *text;
    size_t length;
    bool is_number;
};

enum { CORE = 3, VERSION_MAX = 128 };

static bool is_identifier_char(char c)
{
    return is_digit(c) || is_lower(c) || (c >= 'A' && c <= 'Z') || c == '-';
}

/* Takes an identifier and what follows it. */
static struct part take_part(const char **at)
{
    struct part part = { .text = *at, .is_number = true };
    for (; is_identifier_char(**at); ++*at, part.length++) {
        if (!is_digit(**at))
            part.is_number = false;
    }
    if (part.length == 0)
        part.is_number = false;
    return part;
}

static bool has_leading_zero(struct part part)
{
    return part.is_number && part.length > 1 && part.text[0] == '0';
}

/* Identifiers with points between them. @return false: an empty one, or, where numbers count, one
 * with a leading zero */
static bool take_parts(const char **at, bool counts_numbers)
{
    for (;;) {
        struct part part = take_part(at);
        if (part.length == 0 || (counts_numbers && has_leading_zero(part)))
            return false;
        if (**at != '.')
            return true;
        ++*at;
    }
}

/* Takes "1.2.3". @return false: it is something else */
static bool take_core(const char **at, struct part core[CORE])
{
    for (size_t i = 0; i < CORE; i++) {
        const char *begin = *at;
        while (is_digit(**at))
            ++*at;
        core[i] = (struct part){ .text = begin, .length = (size_t)(*at - begin), true };
        if (core[i].length == 0 || has_leading_zero(core[i]))
            return false;
        if (i + 1 < CORE && *(*at)++ != '.')
            return false;
    }
    return true;
}

bool casparian_version_is_valid(const char *version)
{
    struct part core[CORE];
    const char *at = version;

    if (strlen(version) > VERSION_MAX || !take_core(&at, core))
        return false;
    if (*at == '-' && (++at, !take_parts(&at, true)))
        return false;
    if (*at == '+' && (++at, !take_parts(&at, false)))
        return false;
    return *at == '\0';
}

bool casparian_version_is_prerelease(const char *version)
{
    struct part core[CORE];
    const char *at = version;
    return casparian_version_is_valid(version) && take_core(&at, core) && *at == '-';
}

/* Numbers without leading zeros: the longer one is larger. */
static int compare_parts(struct part a, struct part b)
{
    if (a.is_number != b.is_number)
        return a.is_number ? -1 : 1;
    if (a.is_number && a.length != b.length)
        return a.length < b.length ? -1 : 1;
    size_t shorter = a.length < b.length ? a.length : b.length;
    int order = memcmp(a.text, b.text, shorter);
    if (order != 0 || a.length == b.length)
        return order;
    return a.length < b.length ? -1 : 1;
}

/* What follows the '-'; a version without it comes after all that have it. */
static int compare_prereleases(const char *a, const char *b)
{
    if (*a != '-' || *b != '-')
        return (*b == '-') - (*a == '-');
    while ((*a == '-' || *a == '.') && (*b == '-' || *b == '.')) {
        a++;
        b++;
        int order = compare_parts(take_part(&a), take_part(&b));
        if (order != 0)
            return order;
    }
    return (*a == '.') - (*b == '.');
}

int casparian_version_compare(const char *a, const char *b)
{
    struct part core_a[CORE], core_b[CORE];
    bool is_a = casparian_version_is_valid(a), is_b = casparian_version_is_valid(b);

    if (!is_a || !is_b)
        return is_a == is_b ? strcmp(a, b) : is_a - is_b;
    take_core(&a, core_a);
    take_core(&b, core_b);
    for (size_t i = 0; i < CORE; i++) {
        int order = compare_parts(core_a[i], core_b[i]);
        if (order != 0)
            return order;
    }
    return compare_prereleases(a, b);
}
