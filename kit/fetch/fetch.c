/*
 * fetch.c - one request, from its checks to its result.
 *
 * libcurl calls back on the requesting thread: before it makes a socket (the egress list judges the
 * address), when a connection stands and the request is about to leave (from then on it may have
 * arrived), for each header line and each piece of the body.
 *
 * libcurl sends a request again when a kept connection turns out to be closed, whatever its method.
 * A request that may not be repeated is ended there instead; and it does not use a connection that
 * was idle for more than a few seconds, so that this is rare.
 */
#include "fetch/fetch.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fetch/pool.h"
#include "mcp/clock.h"

enum { POLL_MS = 50, METHOD_MAX = 16, FRESH_S = 4, KEPT_S = 60 };

/* A request under way. The requesting thread's. */
struct exchange {
    fetch *pool;
    const fetch_request *request;
    const fetch_url *url;
    fetch_result *result;
    const struct fetch_curl *curl;
    CURL *easy;
    size_t body_length; /* of the answer, so far */
    size_t body_max;
    int64_t until_ms;
    bool has_body;     /* its first byte has come; further header lines are trailers */
    mcp_status st;     /* why a callback ended it, MCP_OK: none did */
    mcp_error *err;    /* filled by the callback that set `st` */
    mcp_error refusal; /* of an address; libcurl may try others */
};

/* ---- checks ---------------------------------------------------------------------------------- */

static bool is_token(const char *text)
{
    static const char others[] = "!#$%&'*+-.^_`|~0123456789"
                                 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

    return text[0] != '\0' && text[strspn(text, others)] == '\0';
}

/* A field value of RFC 9110, section 5.5, without bytes that are not ASCII. */
static bool is_value(const char *text)
{
    for (const char *c = text; *c; c++) {
        if ((*c < ' ' && *c != '\t') || *c > '~')
            return false;
    }
    return true;
}

/* Headers that say how the message is framed or sent on: libcurl writes these. */
static bool is_framing(const char *name)
{
    static const char *const names[] = { "Host",    "Content-Length", "Transfer-Encoding",
                                         "Trailer", "Connection",     "Keep-Alive",
                                         "TE",      "Upgrade",        "Expect" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcasecmp(name, names[i]) == 0)
            return true;
    }
    return strncasecmp(name, "Proxy-", 6) == 0;
}

static mcp_status check_request(const fetch_request *request, mcp_error *err)
{
    if (request->method && (!is_token(request->method) || strlen(request->method) > METHOD_MAX ||
                            strcasecmp(request->method, "CONNECT") == 0))
        return mcp_error_set(err, MCP_E_PARAMS, "the method of a request is not one");
    if (request->header_count > FETCH_HEADERS_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "a request has at most %d headers",
                             FETCH_HEADERS_MAX);
    for (size_t i = 0; i < request->header_count; i++) {
        const fetch_header *header = &request->headers[i];
        if (!is_token(header->name) || is_framing(header->name))
            return mcp_error_set(err, MCP_E_PARAMS, "header %zu of a request has a bad name",
                                 i + 1);
        if (!is_value(header->value))
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "the value of the header %.60s has a character that none may have",
                                 header->name);
    }
    return MCP_OK;
}

/* ---- libcurl's callbacks --------------------------------------------------------------------- */

static curl_socket_t open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct exchange *self = data;
    /* The address may be longer than the member, which is the last of its struct. */
    const struct sockaddr *target = (const void *)((const char *)address +
                                                   offsetof(struct curl_sockaddr, addr));

    if (purpose != CURLSOCKTYPE_IPCXN)
        return CURL_SOCKET_BAD;
    if (self->pool->egress &&
        fetch_egress_check_address(self->pool->egress, self->url, target, address->addrlen,
                                   &self->refusal) != MCP_OK)
        return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static int before_request(void *data, char *to, char *from, int to_port, int from_port)
{
    struct exchange *self = data;

    (void)to, (void)from, (void)to_port, (void)from_port;
    if (self->result->may_have_arrived && !self->request->may_repeat) {
        self->st = mcp_error_set(self->err, MCP_E_IO,
                                 "%s: the kept connection was closed without an answer",
                                 self->url->host);
        return CURL_PREREQFUNC_ABORT;
    }
    self->result->may_have_arrived = true;
    return CURL_PREREQFUNC_OK;
}

/* Append "name NUL value NUL". A line without a colon is no header. */
static mcp_status keep_header(mcp_buf *head, const char *line, size_t length)
{
    const char *colon = memchr(line, ':', length);
    const char *end = line + length;

    if (!colon || memchr(line, '\0', length))
        return MCP_OK;
    const char *value = colon + 1;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && (end[-1] == '\r' || end[-1] == '\n' || end[-1] == ' ' || end[-1] == '\t'))
        end--;
    mcp_buf_append(head, line, (size_t)(colon - line));
    mcp_buf_putc(head, '\0');
    mcp_buf_append(head, value, (size_t)(end - value));
    return mcp_buf_putc(head, '\0');
}

static size_t take_header(char *line, size_t size, size_t count, void *data)
{
    struct exchange *self = data;
    size_t length = size * count;

    if (self->has_body)
        return length;
    if (length >= 5 && memcmp(line, "HTTP/", 5) == 0) {
        mcp_buf_reset(&self->result->head);
        return length;
    }
    mcp_status st = keep_header(&self->result->head, line, length);
    if (st == MCP_OK)
        return length;
    self->st = st == MCP_E_LIMIT
                   ? mcp_error_set(self->err, st,
                                   "%s: the headers of the answer are longer than %d bytes",
                                   self->url->host, FETCH_HEAD_MAX)
                   : mcp_error_set(self->err, st, "no memory for an answer");
    return 0;
}

/* Status and headers, for `on_body` and for the result. */
static void read_head(struct exchange *self)
{
    long status = 0;
    curl_off_t seconds = 0;

    self->curl->curl_easy_getinfo(self->easy, CURLINFO_RESPONSE_CODE, &status);
    self->curl->curl_easy_getinfo(self->easy, CURLINFO_RETRY_AFTER, &seconds);
    self->result->status = (int)status;
    if (seconds < INT64_MAX / 1000 && fetch_result_header(self->result, "Retry-After"))
        self->result->retry_after_ms = seconds > 0 ? seconds * 1000 : 0; /* or a date gone by */
}

static size_t take_body(char *bytes, size_t size, size_t count, void *data)
{
    struct exchange *self = data;
    size_t length = size * count;

    if (!self->has_body)
        read_head(self);
    self->has_body = true;
    if (length > self->body_max - self->body_length) {
        self->st = mcp_error_set(self->err, MCP_E_LIMIT, "%s: the answer is longer than %zu bytes",
                                 self->url->host, self->body_max);
        return 0;
    }
    self->body_length += length;
    if (self->request->on_body)
        self->st = self->request->on_body(self->request->data, self->result, bytes, length,
                                          self->err);
    else if (mcp_buf_append(&self->result->body, bytes, length) != MCP_OK)
        self->st = mcp_error_set(self->err, MCP_E_NOMEM, "no memory for an answer");
    return self->st == MCP_OK ? length : 0;
}

/* ---- options --------------------------------------------------------------------------------- */

static mcp_status add_header(struct curl_slist **list, const struct fetch_curl *curl,
                             const char *line, mcp_error *err)
{
    struct curl_slist *longer = curl->curl_slist_append(*list, line);

    if (!longer)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for headers");
    *list = longer;
    return MCP_OK;
}

/* The request's headers as libcurl wants them: "Name;" is one without a value, "Name:" leaves out
 * what libcurl would add. */
static mcp_status list_headers(struct curl_slist **list, const struct fetch_curl *curl,
                               const fetch_request *request, mcp_error *err)
{
    mcp_buf line;
    bool has_type = false;

    mcp_buf_init(&line, SIZE_MAX / 2);
    mcp_status st = add_header(list, curl, "Expect:", err);
    for (size_t i = 0; i < request->header_count && st == MCP_OK; i++) {
        const fetch_header *header = &request->headers[i];
        const char *value = header->value + strspn(header->value, " \t");
        has_type = has_type || strcasecmp(header->name, "Content-Type") == 0;
        mcp_buf_reset(&line);
        if (value[0] == '\0')
            mcp_buf_printf(&line, "%s;", header->name);
        else
            mcp_buf_printf(&line, "%s: %s", header->name, value);
        st = line.status == MCP_OK ? add_header(list, curl, line.data, err)
                                   : mcp_error_set(err, MCP_E_NOMEM, "no memory for headers");
    }
    if (st == MCP_OK && !has_type)
        st = add_header(list, curl, "Content-Type:", err);
    mcp_buf_clear(&line);
    return st;
}

static CURLcode set_numbers(struct exchange *self)
{
    const struct {
        CURLoption name;
        long value;
    } numbers[] = {
        { CURLOPT_NOSIGNAL, 1 },
        { CURLOPT_FOLLOWLOCATION, 0 },
        { CURLOPT_NETRC, CURL_NETRC_IGNORED },
        { CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1 },
        { CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2 },
        { CURLOPT_SSL_VERIFYPEER, 1 },
        { CURLOPT_SSL_VERIFYHOST, 2 },
        { CURLOPT_FAILONERROR, 0 },
        { CURLOPT_SUPPRESS_CONNECT_HEADERS, 1 },
        { CURLOPT_MAXAGE_CONN, self->request->may_repeat ? KEPT_S : FRESH_S },
        { CURLOPT_CONNECTTIMEOUT_MS,
          self->request->connect_ms > 0 && self->request->connect_ms < INT32_MAX
              ? (long)self->request->connect_ms
              : FETCH_CONNECT_MS },
    };
    CURLcode code = CURLE_OK;

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && !code; i++)
        code = self->curl->curl_easy_setopt(self->easy, numbers[i].name, numbers[i].value);
#if LIBCURL_VERSION_NUM >= 0x075700
    /* Not to wait for a name that is still being resolved. An older library does not know it. */
    self->curl->curl_easy_setopt(self->easy, CURLOPT_QUICK_EXIT, 1L);
#endif
    return code;
}

static CURLcode set_method(struct exchange *self)
{
    const fetch_request *request = self->request;
    const struct fetch_curl *curl = self->curl;
    bool has_body = request->body_length > 0;
    const char *method = request->method ? request->method : has_body ? "POST" : "GET";
    CURLcode code = CURLE_OK;

    if (strcmp(method, "HEAD") == 0 && !has_body)
        return curl->curl_easy_setopt(self->easy, CURLOPT_NOBODY, 1L);
    if (has_body || strcmp(method, "POST") == 0) {
        code = curl->curl_easy_setopt(self->easy, CURLOPT_POSTFIELDSIZE_LARGE,
                                      (curl_off_t)request->body_length);
        if (!code)
            code = curl->curl_easy_setopt(self->easy, CURLOPT_POSTFIELDS,
                                          has_body ? request->body : "");
    }
    return code ? code : curl->curl_easy_setopt(self->easy, CURLOPT_CUSTOMREQUEST, method);
}

static CURLcode set_pointers(struct exchange *self, struct curl_slist *headers)
{
    bool by_proxy = self->pool->environment_proxy && self->url->is_tls;
    const char *protocol = self->url->is_tls ? "https" : "http";
    const struct {
        CURLoption name;
        const void *value;
    } pointers[] = {
        { CURLOPT_URL, self->request->url },
        { CURLOPT_PROTOCOLS_STR, protocol },
        { CURLOPT_PROXY, by_proxy ? NULL : "" },
        { CURLOPT_CAINFO, self->pool->ca_file },
        { CURLOPT_HTTPHEADER, headers },
        { CURLOPT_OPENSOCKETDATA, self },
        { CURLOPT_PREREQDATA, self },
        { CURLOPT_HEADERDATA, self },
        { CURLOPT_WRITEDATA, self },
    };
    CURLcode code = CURLE_OK;

    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0] && !code; i++) {
        if (pointers[i].value)
            code = self->curl->curl_easy_setopt(self->easy, pointers[i].name, pointers[i].value);
    }
    if (!code)
        code = self->curl->curl_easy_setopt(self->easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    if (!code)
        code = self->curl->curl_easy_setopt(self->easy, CURLOPT_PREREQFUNCTION, before_request);
    if (!code)
        code = self->curl->curl_easy_setopt(self->easy, CURLOPT_HEADERFUNCTION, take_header);
    if (!code)
        code = self->curl->curl_easy_setopt(self->easy, CURLOPT_WRITEFUNCTION, take_body);
    return code;
}

/* ---- running --------------------------------------------------------------------------------- */

static mcp_status fails(const struct exchange *self, CURLcode code, mcp_error *err)
{
    const char *host = self->url->host;

    if (self->st != MCP_OK)
        return self->st;
    if (code == CURLE_OUT_OF_MEMORY)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a request");
    if (code == CURLE_OPERATION_TIMEDOUT)
        return mcp_error_set(err, MCP_E_TIMEOUT, "%s: not connected in time", host);
    if (code == CURLE_COULDNT_CONNECT && self->refusal.status != MCP_OK)
        return mcp_error_set(err, self->refusal.status, "%s", self->refusal.message);
    return mcp_error_set(err, MCP_E_IO, "%s: %s", host, self->curl->curl_easy_strerror(code));
}

/* What libcurl says of the request, once it has ended. */
static CURLcode ended_with(const struct exchange *self, CURLM *multi)
{
    int left = 0;
    const CURLMsg *message = self->curl->curl_multi_info_read(multi, &left);

    return message ? message->data.result : CURLE_RECV_ERROR;
}

static mcp_status drive(struct exchange *self, CURLM *multi, mcp_error *err)
{
    const fetch_request *request = self->request;
    int running = 1;

    for (;;) {
        if (self->curl->curl_multi_perform(multi, &running) != CURLM_OK)
            return mcp_error_set(err, MCP_E_IO, "%s: libcurl failed", self->url->host);
        if (running == 0)
            break;
        int64_t left_ms = self->until_ms - mcp_clock_mono_ms();
        if (left_ms <= 0)
            return mcp_error_set(err, MCP_E_TIMEOUT, "%s: no whole answer in time",
                                 self->url->host);
        if (request->should_stop && request->should_stop(request->data))
            return mcp_error_set(err, MCP_E_STOPPED, "%s: the request was stopped",
                                 self->url->host);
        int64_t most_ms = request->should_stop ? POLL_MS : 1000;
        self->curl->curl_multi_poll(multi, NULL, 0, (int)(left_ms < most_ms ? left_ms : most_ms),
                                    NULL);
    }
    CURLcode code = ended_with(self, multi);
    return code == CURLE_OK ? MCP_OK : fails(self, code, err);
}

static mcp_status run(struct exchange *self, struct fetch_line *line, mcp_error *err)
{
    struct curl_slist *headers = NULL;

    self->easy = line->easy;
    self->curl->curl_easy_reset(line->easy);
    mcp_status st = list_headers(&headers, self->curl, self->request, err);
    if (st == MCP_OK) {
        CURLcode code = set_numbers(self);
        code = code ? code : set_method(self);
        code = code ? code : set_pointers(self, headers);
        if (code == CURLE_OUT_OF_MEMORY)
            st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a request");
        else if (code)
            st = mcp_error_set(err, MCP_E_UNSUPPORTED, "libcurl cannot send requests: %s",
                               self->curl->curl_easy_strerror(code));
    }
    if (st == MCP_OK && self->curl->curl_multi_add_handle(line->multi, line->easy) != CURLM_OK)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a request");
    if (st == MCP_OK) {
        st = drive(self, line->multi, err);
        if (self->result->status == 0)
            read_head(self);
        self->curl->curl_multi_remove_handle(line->multi, line->easy);
    }
    self->curl->curl_slist_free_all(headers);
    return st;
}

mcp_status fetch_run(fetch_result *out, fetch *self, const fetch_request *request, mcp_error *err)
{
    mcp_error ignored = MCP_ERROR_INIT;
    fetch_url url;
    struct fetch_line *line = NULL;
    size_t body_max = request->body_max_bytes ? request->body_max_bytes : FETCH_BODY_MAX;
    int64_t timeout_ms = request->timeout_ms > 0 ? request->timeout_ms : FETCH_TIMEOUT_MS;
    int64_t now_ms = mcp_clock_mono_ms();

    err = err ? err : &ignored;
    *out = (fetch_result){ .retry_after_ms = -1 };
    mcp_buf_init(&out->head, FETCH_HEAD_MAX);
    mcp_buf_init(&out->body, body_max);
    struct exchange exchange = {
        .pool = self,
        .request = request,
        .url = &url,
        .result = out,
        .curl = self->curl,
        .body_max = body_max,
        .until_ms = timeout_ms < INT64_MAX - now_ms ? now_ms + timeout_ms : INT64_MAX,
        .err = err,
        .refusal = MCP_ERROR_INIT,
    };
    mcp_status st = check_request(request, err);
    if (st == MCP_OK)
        st = fetch_url_read(&url, request->url, err);
    if (st == MCP_OK && self->egress)
        st = fetch_egress_check_url(self->egress, &url, err);
    if (st == MCP_OK)
        st = fetch_line_take(&line, self, &url, err);
    if (st != MCP_OK)
        return st;
    st = run(&exchange, line, err);
    fetch_line_put(self, line);
    return st;
}

const char *fetch_result_header(const fetch_result *result, const char *name)
{
    const char *at = result->head.data;
    const char *end = at ? at + result->head.length : NULL;

    while (at < end) {
        const char *value = at + strlen(at) + 1;
        if (strcasecmp(at, name) == 0)
            return value;
        at = value + strlen(value) + 1;
    }
    return NULL;
}

void fetch_result_clear(fetch_result *result)
{
    mcp_buf_clear(&result->head);
    mcp_buf_clear(&result->body);
}
