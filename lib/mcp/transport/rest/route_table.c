/*
 * route_table.c - matching paths segment by segment, and decoding what varies in them.
 *
 * A path is cut as it was sent and decoded afterwards, one segment at a time: so an encoded slash
 * is part of a variable and never a border. One slash at its end is taken for none. The arguments
 * become JSON text that is read again, which costs a microsecond and makes a REST call's arguments
 * the same thing as a tool's.
 */
#include "mcp/transport/rest/route_table.h"

#include <string.h>

#include "base/alloc.h"
#include "base/arena_int.h"
#include "base/utf8.h"

static const char *const methods[] = { "GET", "POST", "PUT", "PATCH", "DELETE" };

/* ---- the table ------------------------------------------------------------------------------- */

static bool is_known_method(const char *method)
{
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (method && strcmp(methods[i], method) == 0)
            return true;
    return false;
}

static size_t segment_length(const char *at, const char *end)
{
    const char *slash = memchr(at, '/', (size_t)(end - at));

    return (size_t)((slash ? slash : end) - at);
}

/* Whether a segment of a pattern is a variable, "{name}". */
static bool is_variable(const char *segment, size_t length)
{
    return length > 2 && segment[0] == '{' && segment[length - 1] == '}';
}

/* Whether an earlier segment of the pattern is the same. */
static bool is_repeated(const char *pattern, const char *segment, size_t length)
{
    const char *at = pattern + 1;

    while (at < segment) {
        size_t earlier = segment_length(at, segment);
        if (earlier == length && memcmp(at, segment, length) == 0)
            return true;
        at += earlier + 1;
    }
    return false;
}

/* What is wrong with a pattern that begins with a slash; NULL: nothing. */
static const char *pattern_fault(const char *pattern)
{
    const char *end = pattern + strlen(pattern);

    for (const char *at = pattern + 1; at < end;) {
        size_t length = segment_length(at, end);
        size_t inner = is_variable(at, length) ? 1 : 0;
        if (memchr(at + inner, '{', length - 2 * inner) ||
            memchr(at + inner, '}', length - 2 * inner))
            return "has a variable that is not a whole segment, \"{name}\"";
        if (inner && is_repeated(pattern, at, length))
            return "has a variable twice";
        at += length + 1;
    }
    return NULL;
}

/* Whether an earlier row answers the same requests. */
static bool is_taken(const mcp_route *routes, const mcp_route *route)
{
    for (; routes < route; routes++)
        if (strcmp(routes->method, route->method) == 0 && strcmp(routes->path, route->path) == 0)
            return true;
    return false;
}

mcp_status mcp__route_check(const mcp_route *routes, mcp_error *err)
{
    for (const mcp_route *route = routes; route && route->path; route++) {
        if (!is_known_method(route->method))
            return mcp_error_set(err, MCP_E_PARAMS, "the route %s has no method that is known",
                                 route->path);
        if (route->path[0] != '/' || !route->run)
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "the route \"%s\" must begin with / and have a handler",
                                 route->path);
        const char *fault = pattern_fault(route->path);
        if (!fault && is_taken(routes, route))
            fault = "is in the table twice";
        if (!fault && route->timeout_ms < 0)
            fault = "has a negative bound";
        if (fault)
            return mcp_error_set(err, MCP_E_PARAMS, "the route %s %s %s", route->method,
                                 route->path, fault);
        if ((route->flags & MCP_NONBLOCKING) && (route->flags & MCP_LONG))
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "the route %s says both MCP_NONBLOCKING and MCP_LONG",
                                 route->path);
    }
    return MCP_OK;
}

mcp_status mcp__route_inline_budgets(mcp__inline_budget **out, const mcp_route *routes,
                                     mcp_error *err)
{
    size_t count = 0;

    while (routes && routes[count].path)
        count++;
    mcp__inline_budget *budgets = mcp_alloc_zeroed(count + 1, sizeof *budgets);
    if (!budgets)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for routes");
    *out = budgets;
    return MCP_OK;
}

int mcp__route_long_count(const mcp_route *routes)
{
    int count = 0;

    for (const mcp_route *route = routes; route && route->path; route++)
        count += (route->flags & MCP_LONG) != 0;
    return count;
}

/* ---- paths ----------------------------------------------------------------------------------- */

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit |= 0x20;
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Whether a segment says what the pattern does: ':' may come as "%3A" (RFC 3986, section 3.3). */
static bool is_said(const char *wanted, size_t length, const char *got, size_t got_length)
{
    size_t at = 0;

    for (size_t i = 0; i < length; i++, at++) {
        if (at >= got_length)
            return false;
        char byte = got[at];
        if (byte == '%' && got_length - at > 2) {
            byte = (char)(hex_value(got[at + 1]) * 16 + hex_value(got[at + 2]));
            at += 2;
        }
        if (byte != wanted[i])
            return false;
    }
    return at == got_length;
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* A text that was percent-decoded, and is a C string of UTF-8; NULL when it cannot be. */
static const char *decode(mcp_arena *arena, const char *text, size_t length, bool plus_is_space)
{
    char *out = mcp_arena_alloc(arena, length + 1);
    size_t used = 0;

    for (size_t i = 0; out && i < length; i++) {
        char byte = text[i];
        if (byte == '%') {
            int high = length - i > 2 ? hex_value(text[i + 1]) : -1;
            int low = length - i > 2 ? hex_value(text[i + 2]) : -1;
            if (high < 0 || low < 0)
                return NULL;
            byte = (char)(high * 16 + low);
            i += 2;
        } else if (byte == '+' && plus_is_space) {
            byte = ' ';
        }
        if (byte == '\0')
            return NULL;
        out[used++] = byte;
    }
    if (!out || !mcp__utf8_valid(out, used, NULL))
        return NULL;
    out[used] = '\0';
    return out;
}

/* What is gathered so far. */
struct gathering {
    mcp_arena *arena;
    mcp_json_writer *writer;
    const char *names[MCP__ROUTE_PARTS];
    size_t count;
    bool is_overfull; /* there was one more */
};

static bool has_name(const struct gathering *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->names[i], name) == 0)
            return true;
    return false;
}

/* The first of a name counts. Returns false when it cannot be taken. */
static bool take(struct gathering *all, const char *name, const char *value)
{
    if (!name || !value)
        return false;
    if (has_name(all, name))
        return true;
    all->is_overfull = all->count >= MCP__ROUTE_PARTS;
    if (all->is_overfull)
        return false;
    all->names[all->count++] = name;
    mcp_write_member_string(all->writer, name, value);
    return true;
}

/* Whether a path fits a pattern; then its variables are taken, unless `all` is NULL. */
static bool fits(const char *pattern, const char *path, size_t length, struct gathering *all)
{
    const char *pattern_end = pattern + strlen(pattern);
    const char *path_end = path + length;

    if (length > 1 && path_end[-1] == '/' && path_end[-2] != '/')
        path_end--;
    if (pattern_end - pattern > 1 && pattern_end[-1] == '/')
        pattern_end--;
    while (pattern < pattern_end && path < path_end) {
        if (*pattern != '/' || *path != '/')
            return false;
        size_t wanted = segment_length(++pattern, pattern_end);
        size_t got = segment_length(++path, path_end);
        bool varies = is_variable(pattern, wanted);
        if (varies ? got == 0 : !is_said(pattern, wanted, path, got))
            return false;
        if (varies && all &&
            !take(all, mcp_arena_strndup(all->arena, pattern + 1, wanted - 2),
                  decode(all->arena, path, got, false)))
            return false;
        pattern += wanted;
        path += got;
    }
    return pattern == pattern_end && path == path_end;
}

static bool take_query(struct gathering *all, const char *query)
{
    while (*query) {
        size_t length = strcspn(query, "&");
        const char *equals = memchr(query, '=', length);
        size_t name = equals ? (size_t)(equals - query) : length;
        const char *value = equals ? equals + 1 : query + length;
        if (length > 0 && !take(all, decode(all->arena, query, name, true),
                                decode(all->arena, value, (size_t)(query + length - value), true)))
            return false;
        query += length + (query[length] == '&');
    }
    return true;
}

static mcp_status refuse(const struct gathering *all, mcp_error *err)
{
    if (all->is_overfull)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "a path may have %d variables, together with the members of its query",
                             MCP__ROUTE_PARTS);
    if (mcp__arena_failure(all->arena) != MCP_OK)
        return mcp_error_set(err, MCP_E_NOMEM, "%s", mcp_status_words(MCP_E_NOMEM));
    return mcp_error_set(err, MCP_E_PARAMS, "the path or the query is not rightly encoded");
}

mcp_status mcp__route_arguments(const mcp_json **out, mcp_arena *arena, const mcp_route *route,
                                const char *path, size_t length, const char *query, mcp_error *err)
{
    mcp_json_writer writer;
    struct gathering all = { .arena = arena, .writer = &writer };
    mcp_buf text;
    bool is_good;

    mcp_buf_init(&text, (size_t)256 * 1024);
    mcp_json_writer_init(&writer, &text);
    mcp_write_object(&writer);
    is_good = fits(route->path, path, length, &all) && (!query || take_query(&all, query));
    mcp_write_end(&writer);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK && is_good)
        st = mcp_json_read(out, arena, text.data, text.length, err);
    mcp_buf_clear(&text);
    if (!is_good)
        return refuse(&all, err);
    return st;
}

/* ---- of a request ---------------------------------------------------------------------------- */

const mcp_route *mcp__route_find(const mcp_route *routes, const char *method, const char *path,
                                 size_t length, mcp_buf *allowed)
{
    for (const mcp_route *route = routes; route && route->path; route++) {
        if (!fits(route->path, path, length, NULL))
            continue;
        if (strcmp(route->method, strcmp(method, "HEAD") == 0 ? "GET" : method) == 0)
            return route;
        if (allowed)
            (void)mcp_buf_printf(allowed, "%s%s%s", allowed->length > 0 ? ", " : "", route->method,
                                 strcmp(route->method, "GET") == 0 ? ", HEAD" : "");
    }
    return NULL;
}

const mcp_route *mcp__route_of(const mcp__httpd *httpd, const mcp__http_exchange *exchange,
                               mcp_buf *allowed)
{
    size_t length = 0;
    const char *path = mcp__http_path(exchange, &length);

    return mcp__route_find(httpd->http.routes, mcp__http_method(exchange), path, length, allowed);
}

/* A client that is refused a token looks at these paths for an authorization server. */
static bool is_of_authorization(const mcp__http_exchange *exchange)
{
    static const char *const paths[] = { "/register", "/authorize", "/token" };
    static const char well_known[] = "/.well-known/";
    size_t length = 0;
    const char *path = mcp__http_path(exchange, &length);

    if (length >= sizeof well_known - 1 && memcmp(path, well_known, sizeof well_known - 1) == 0)
        return true;
    if (length > 1 && path[length - 1] == '/')
        length--;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (length == strlen(paths[i]) && memcmp(path, paths[i], length) == 0)
            return true;
    return false;
}

bool mcp__route_is_open(const mcp__httpd *httpd, const mcp__http_exchange *exchange)
{
    mcp_buf allowed;

    mcp_buf_init(&allowed, MCP__ROUTE_ALLOWED_MAX);
    const mcp_route *route = mcp__route_of(httpd, exchange, &allowed);
    bool is_path = route || allowed.length > 0;
    mcp_buf_clear(&allowed);
    return is_path ? route && (route->flags & MCP_PUBLIC) : is_of_authorization(exchange);
}
