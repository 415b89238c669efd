/*
 * header_fields.c - Accept, Content-Type, Host, Origin, Sec-Fetch-Site, CORS, and the fields of an
 * answer in their order.
 *
 * A browser carries requests of any web page to any server that it can reach, also to one on this
 * machine. Three fields say what a page cannot forge. Host is the name by which the page calls the
 * server: a foreign name that resolves to this machine (DNS rebinding) is refused. Origin is where
 * the page is from: only pages of the server itself and of the listed origins pass; another port of
 * this machine is another origin. Where a browser sends no Origin, Sec-Fetch-Site says whether the
 * page is of the same origin. Programs that are not browsers send neither of the last two.
 *
 * A request without Origin that reads a route passes from any page: links to the server are such
 * requests, and Cross-Origin-Resource-Policy keeps the answer from the page. Paths of MCP have no
 * such exception.
 *
 * A Unix-domain socket is guarded by its file mode; browsers do not reach it.
 */
#include "mcp/transport/http/header_fields.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define REQUEST_DENIED (-32000)
#define ALLOWED_HEADERS_MAX ((size_t)32 * 1024)

/* ---- fields of a request --------------------------------------------------------------------- */

static const char *read_field(const mcp__headers *self, const char *name, size_t *count)
{
    const mcp__http_exchange *exchange = ((const mcp__exchange_headers *)self)->exchange;

    *count = mcp__http_field_count(exchange, name);
    return mcp__http_field(exchange, name);
}

static const char *read_list(const mcp__headers *self, const char *name, mcp_arena *arena)
{
    const mcp__http_exchange *exchange = ((const mcp__exchange_headers *)self)->exchange;
    const char *own_name = NULL, *value = NULL, *list = NULL;

    for (size_t i = 0; mcp__http_field_at(exchange, i, &own_name, &value); i++) {
        if (strcasecmp(own_name, name) != 0)
            continue;
        list = list ? mcp_arena_printf(arena, "%s, %s", list, value)
                    : mcp_arena_strdup(arena, value);
        if (!list)
            return NULL;
    }
    return list;
}

mcp__exchange_headers mcp__exchange_headers_of(const mcp__http_exchange *exchange)
{
    return (mcp__exchange_headers){ { read_field, read_list }, exchange };
}

/* ---- media types ----------------------------------------------------------------------------- */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

static size_t trimmed(const char *at, size_t length)
{
    while (length > 0 && (at[length - 1] == ' ' || at[length - 1] == '\t'))
        length--;
    return length;
}

static bool is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(at, word, length) == 0;
}

/* The end of the piece that begins at `at`: a `separator` that is not within quotes. */
static const char *piece_end(const char *at, char separator)
{
    bool is_quoted = false;

    for (; *at && (is_quoted || *at != separator); at++) {
        if (is_quoted && *at == '\\' && at[1])
            at++;
        else if (*at == '"')
            is_quoted = !is_quoted;
    }
    return at;
}

/* Whether the parameters, which begin at a ";" or are none, say q=0. */
static bool is_refused(const char *at, const char *end)
{
    while (at < end) {
        at = skip_blanks(at + 1);
        const char *next = piece_end(at, ';');
        if ((*at == 'q' || *at == 'Q') && at[1] == '=') {
            size_t length = trimmed(at + 2, (size_t)((next < end ? next : end) - at - 2));
            return length > 0 && at[2] == '0' && strspn(at + 2, "0.") >= length;
        }
        at = next;
    }
    return false;
}

void mcp__field_accept(mcp__accepted *accepted, const char *value)
{
    while (*value) {
        const char *at = skip_blanks(value);
        const char *end = piece_end(at, ',');
        const char *parameters = piece_end(at, ';');
        if (parameters > end)
            parameters = end;
        size_t length = trimmed(at, (size_t)(parameters - at));
        if (length > 0 && !is_refused(parameters, end)) {
            bool any = is_word(at, length, "*/*");
            accepted->json |= any || is_word(at, length, "application/*") ||
                              is_word(at, length, "application/json");
            accepted->events |= any || is_word(at, length, "text/*") ||
                                is_word(at, length, "text/event-stream");
        }
        value = *end ? end + 1 : end;
    }
}

bool mcp__field_is_type(const char *value, const char *type)
{
    const char *at = skip_blanks(value ? value : "");

    return is_word(at, trimmed(at, strcspn(at, ";")), type);
}

bool mcp__field_is_json(const char *value)
{
    const char *at = skip_blanks(value ? value : "");
    size_t length = trimmed(at, strcspn(at, ";"));
    const char *slash = memchr(at, '/', length);

    return is_word(at, length, "application/json") ||
           (slash && length > 5 && at + length - 5 > slash + 1 &&
            strncasecmp(at + length - 5, "+json", 5) == 0);
}

/* ---- an answer ------------------------------------------------------------------------------- */

void mcp__head_add(mcp__head *head, const char *name, const char *value)
{
    if (!value)
        return;
    assert(head->count < MCP__HEAD_FIELDS);
    head->fields[head->count++] = (mcp__http_field_out){ .name = name, .value = value };
}

/* Cache-Control keeps caches, X-Accel-Buffering keeps nginx from holding events back. */
void mcp__head_events(mcp__head *head)
{
    mcp__head_add(head, "Content-Type", "text/event-stream");
    mcp__head_add(head, "Cache-Control", "no-cache, no-transform");
    mcp__head_add(head, "X-Accel-Buffering", "no");
}

mcp__http_head_out mcp__head_out(const mcp__head *head, int status)
{
    return (mcp__http_head_out){ .status = status, .fields = head->fields, .count = head->count };
}

void mcp__head_reply(const mcp__head *head, mcp__http_exchange *exchange, int status, mcp_buf *body)
{
    mcp__http_head_out out = mcp__head_out(head, status);

    if (body && body->length > 0)
        (void)mcp__http_reply_buf(exchange, &out, body, NULL);
    else
        (void)mcp__http_reply(exchange, &out, NULL, 0, NULL);
    if (body)
        mcp_buf_clear(body);
}

void mcp__head_share(mcp__head *head, const char *origin, const char *exposed)
{
    if (!origin)
        return;
    mcp__head_add(head, "Access-Control-Allow-Origin", origin);
    mcp__head_add(head, "Access-Control-Expose-Headers", exposed);
    mcp__head_add(head, "Cross-Origin-Resource-Policy", "cross-origin");
    mcp__head_add(head, "Vary", "Origin");
}

/* ---- authorities ----------------------------------------------------------------------------- */

/* "name" or "name:port". */
struct authority {
    const char *name;
    size_t length; /* of the name; 0: it is malformed */
    int port;      /* -1: none */
};

static struct authority read_authority(const char *text)
{
    const char *bracket = text[0] == '[' ? strchr(text, ']') : NULL;
    size_t length = bracket ? (size_t)(bracket - text) + 1 : strcspn(text, ":");
    struct authority malformed = { .length = 0 };
    const char *port = text + length;

    if (*port == '\0')
        return (struct authority){ text, length, -1 };
    if (*port != ':' || port[1] == '\0' || strspn(port + 1, "0123456789") != strlen(port + 1) ||
        strlen(port + 1) > 5)
        return malformed;
    return (struct authority){ text, length, (int)strtol(port + 1, NULL, 10) };
}

static bool is_name(const struct authority *authority, const char *name, size_t length)
{
    return authority->length == length && length > 0 &&
           strncasecmp(authority->name, name, length) == 0;
}

static bool is_local(const struct authority *authority)
{
    return is_name(authority, "localhost", 9) || is_name(authority, "127.0.0.1", 9) ||
           is_name(authority, "[::1]", 5);
}

/* Whether a list names it. An entry without a port stands for any port where `standard` is -1, else
 * for that. */
static bool is_listed(const struct authority *authority, const char *const *hosts, int standard)
{
    for (; hosts && *hosts; hosts++) {
        struct authority entry = read_authority(*hosts);
        int port = entry.port >= 0 ? entry.port : standard;
        if (is_name(authority, entry.name, entry.length) && (port < 0 || port == authority->port))
            return true;
    }
    return false;
}

/* Names are taken literally: what another name resolves to may change. */
bool mcp_host_is_loopback(const char *host)
{
    if (!host)
        return false;
    return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
           (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == strlen(host));
}

bool mcp__host_is_known(const char *host, const char *const *hosts)
{
    struct authority authority = read_authority(host);

    return is_local(&authority) || is_listed(&authority, hosts, -1);
}

bool mcp__origin_is_own(const char *origin, const char *host, int own_port,
                        const char *const *hosts)
{
    bool is_plain = strncasecmp(origin, "http://", 7) == 0;
    int standard = is_plain ? 80 : 443;

    if (!is_plain && strncasecmp(origin, "https://", 8) != 0)
        return false;
    struct authority from = read_authority(origin + (is_plain ? 7 : 8));
    struct authority named = read_authority(host);
    if (from.port < 0)
        from.port = standard;
    if (named.port < 0)
        named.port = standard;
    return (from.port == named.port && is_name(&from, named.name, named.length)) ||
           (own_port > 0 && from.port == own_port && is_local(&from)) ||
           is_listed(&from, hosts, standard);
}

/* Whether a text has none of these bytes and nothing but printable ASCII. */
static bool is_plain(const char *text, const char *none_of)
{
    for (; *text; text++)
        if (*text <= 0x20 || *text >= 0x7f || strchr(none_of, *text))
            return false;
    return true;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), size = strlen(end);

    return length >= size && strcmp(text + length - size, end) == 0;
}

/* Whether a browser could send it: scheme, host, and the port unless it is the default one, as RFC
 * 6454 section 6.1 writes them; of http and https in small letters. */
static bool is_origin(const char *text)
{
    const char *host = strstr(text, "://");
    bool is_http = strncmp(text, "http://", 7) == 0, is_https = strncmp(text, "https://", 8) == 0;

    if (!host || host == text || host[3] == '\0' || !is_plain(host + 3, "/?#@*\\"))
        return false;
    if (strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789+-.") != (size_t)(host - text))
        return false;
    if ((is_http && ends_with(text, ":80")) || (is_https && ends_with(text, ":443")))
        return false;
    return !(is_http || is_https) || !strpbrk(host, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

mcp_status mcp__origin_check_lists(const char *const *hosts, const char *const *origins,
                                   mcp_error *err)
{
    for (; hosts && *hosts; hosts++)
        if (**hosts == '\0' || !is_plain(*hosts, "/?#@*"))
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "\"%s\" is no name that Host may have: write app.example, or "
                                 "app.example:8443",
                                 *hosts);
    for (; origins && *origins; origins++)
        if (!is_origin(*origins))
            return mcp_error_set(
                err, MCP_E_PARAMS,
                "no browser sends the origin \"%s\": write https://app.example, or "
                "http://app.example:5173, without a path",
                *origins);
    return MCP_OK;
}

/* ---- requests -------------------------------------------------------------------------------- */

const char *mcp__origin_check_origin(const mcp__httpd *httpd, const mcp__http_exchange *exchange)
{
    const char *const *origins = httpd->http.origins;
    const char *origin = origins ? mcp__http_field(exchange, "Origin") : NULL;

    for (; origin && *origins; origins++)
        if (strcmp(origin, *origins) == 0)
            return *origins;
    return NULL;
}

static bool is_known_origin(const mcp__httpd *httpd, const mcp__http_exchange *exchange,
                            const char *host)
{
    const char *origin = mcp__http_field(exchange, "Origin");
    const char *site = mcp__http_field(exchange, "Sec-Fetch-Site");
    int own_port = mcp_host_is_loopback(httpd->http.host) ? httpd->http.port : 0;

    if (origin)
        return mcp__http_field_count(exchange, "Origin") == 1 &&
               (mcp__origin_is_own(origin, host, own_port, httpd->http.hosts) ||
                mcp__origin_check_origin(httpd, exchange));
    if (!site) /* a program's request */
        return true;
    if (mcp__httpd_is_route(httpd, exchange) &&
        (mcp__httpd_is_method(exchange, "GET") || mcp__httpd_is_method(exchange, "HEAD")))
        return true;
    return mcp__http_field_count(exchange, "Sec-Fetch-Site") == 1 &&
           (strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0);
}

/* The headers of MCP and of routes, and those of the family Mcp-Param-* that the browser names. */
static void allow_headers(mcp__head *head, mcp_buf *list, const char *named)
{
    (void)mcp_buf_puts(list, "Content-Type, Authorization, Mcp-Session-Id, MCP-Protocol-Version, "
                             "Mcp-Method, Mcp-Name, Last-Event-ID, If-Match, If-None-Match, "
                             "Idempotency-Key, X-Correlation-Id, traceparent, tracestate");
    for (const char *at = named; at && *at;) {
        at += strspn(at, ", \t");
        size_t length = strcspn(at, ", \t");
        if (strncasecmp(at, "mcp-param-", 10) == 0) {
            (void)mcp_buf_puts(list, ", ");
            (void)mcp_buf_append(list, at, length);
        }
        at += length;
    }
    mcp__head_add(head, "Access-Control-Allow-Headers", list->data);
}

/* Returns false where it is no such request. */
static bool answer_preflight(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    const char *origin = mcp__origin_check_origin(httpd, exchange);
    mcp__head head = { .count = 0 };
    mcp_buf list;

    if (!origin || !mcp__httpd_is_method(exchange, "OPTIONS"))
        return false;
    mcp_buf_init(&list, ALLOWED_HEADERS_MAX);
    mcp__head_share(&head, origin, MCP__EXPOSED);
    mcp__head_add(&head, "Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE, OPTIONS");
    allow_headers(&head, &list, mcp__http_field(exchange, "Access-Control-Request-Headers"));
    mcp__head_add(&head, "Access-Control-Max-Age", "600");
    mcp__head_reply(&head, exchange, 204, NULL);
    mcp_buf_clear(&list);
    return true;
}

bool mcp__origin_check_pass(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    const char *host = mcp__http_field(exchange, "Host");
    const char *fault = NULL;

    if (!mcp__http_is_unix(exchange)) {
        if (!host || !mcp__host_is_known(host, httpd->http.hosts))
            fault = "this Host is not served";
        else if (!is_known_origin(httpd, exchange, host))
            fault = "pages of this origin may not call";
    }
    if (!fault)
        return !answer_preflight(httpd, exchange);
    httpd->counts.refused++;
    mcp__httpd_refuse(httpd, exchange, 403, REQUEST_DENIED, NULL, fault);
    return false;
}
