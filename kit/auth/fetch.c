/*
 * fetch.c - one bounded GET by libcurl.
 *
 * libcurl is opened at the first use: linked, it and its libraries would cost each start of a
 * server 6 ms and 4 MB, and most servers never fetch a key.
 *
 * Other protocols, redirects, compressed bodies (the bound is on the bytes received) and signals
 * are disabled, and the time-out is set. http is for tests and for a proxy on this machine.
 */
#include "auth/fetch.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#define URL_MAX 2048
#define CURL_LIBRARY "libcurl.so.4"

#define CURL_FUNCTIONS(X)                                                                          \
    X(curl_global_init)                                                                            \
    X(curl_url)                                                                                    \
    X(curl_url_set)                                                                                \
    X(curl_url_get)                                                                                \
    X(curl_url_cleanup)                                                                            \
    X(curl_free)                                                                                   \
    X(curl_easy_init)                                                                              \
    X(curl_easy_setopt)                                                                            \
    X(curl_easy_perform)                                                                           \
    X(curl_easy_getinfo)                                                                           \
    X(curl_easy_strerror)                                                                          \
    X(curl_easy_cleanup)

/* Its functions, under their own names; never changed once it has begun. */
static struct {
#define X(name) __typeof__(name) *name;
    CURL_FUNCTIONS(X)
#undef X
} lib;
static pthread_once_t curl_once = PTHREAD_ONCE_INIT;
static bool curl_began;

/* The library stays open: it may have threads of its own. POSIX lets dlsym() give functions; C
 * does not let a void * be assigned to one. */
static void begin_curl(void)
{
    void *handle = dlopen(CURL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    bool is_whole = handle != NULL;

#define X(name)                                                                                    \
    if (is_whole) {                                                                                \
        void *symbol = dlsym(handle, #name);                                                       \
        memcpy(&lib.name, &symbol, sizeof symbol);                                                 \
        is_whole = symbol != NULL;                                                                 \
    }
    CURL_FUNCTIONS(X)
#undef X
    curl_began = is_whole && lib.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

static mcp_status need_curl(mcp_error *err)
{
    pthread_once(&curl_once, begin_curl);
    return curl_began ? MCP_OK
                      : mcp_error_set(err, MCP_E_IO,
                                      "keys cannot be fetched: " CURL_LIBRARY " cannot be used");
}

static bool is_this_machine(const char *host)
{
    return strcmp(host, "127.0.0.1") == 0 || strcmp(host, "[::1]") == 0 ||
           strcmp(host, "localhost") == 0;
}

static bool is_plain(const char *url)
{
    return strncasecmp(url, "http:", 5) == 0;
}

mcp_status auth_fetch_check(const char *url, mcp_error *err)
{
    char *scheme = NULL;
    char *host = NULL;
    char *user = NULL;
    CURLU *parts = NULL;
    bool good = false;
    mcp_status st = need_curl(err);

    if (st != MCP_OK)
        return st;
    parts = lib.curl_url();
    if (!parts)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to read an address");
    if (strlen(url) <= URL_MAX && !lib.curl_url_set(parts, CURLUPART_URL, url, 0) &&
        !lib.curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) &&
        !lib.curl_url_get(parts, CURLUPART_HOST, &host, 0))
        good = strcmp(scheme, "https") == 0 ||
               (strcmp(scheme, "http") == 0 && is_plain(url) && is_this_machine(host));
    if (good && lib.curl_url_get(parts, CURLUPART_USER, &user, 0) != CURLUE_NO_USER)
        good = false;
    lib.curl_free(scheme);
    lib.curl_free(host);
    lib.curl_free(user);
    lib.curl_url_cleanup(parts);
    return good ? MCP_OK
                : mcp_error_set(err, MCP_E_PARAMS, "the keys' address must be an https one");
}

static size_t take_bytes(char *bytes, size_t size, size_t count, void *data)
{
    mcp_buf *body = data;

    return mcp_buf_append(body, bytes, size * count) == MCP_OK ? size * count : 0;
}

static CURLcode set_up(CURL *curl, mcp_buf *body, const char *url, const char *ca_file)
{
    struct option {
        CURLoption name;
        long value;
    };
    static const struct option numbers[] = {
        { CURLOPT_NOSIGNAL, 1 },
        { CURLOPT_FOLLOWLOCATION, 0 },
        { CURLOPT_TIMEOUT_MS, AUTH_FETCH_TIMEOUT_MS },
        { CURLOPT_CONNECTTIMEOUT_MS, AUTH_FETCH_TIMEOUT_MS },
        { CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2 },
        { CURLOPT_SSL_VERIFYPEER, 1 },
        { CURLOPT_SSL_VERIFYHOST, 2 },
        { CURLOPT_FAILONERROR, 0 },
        { CURLOPT_FORBID_REUSE, 1 },
    };
    CURLcode code = CURLE_OK;

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && !code; i++)
        code = lib.curl_easy_setopt(curl, numbers[i].name, numbers[i].value);
    if (!code)
        code = lib.curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, is_plain(url) ? "http" : "https");
    if (!code && is_plain(url))
        code = lib.curl_easy_setopt(curl, CURLOPT_PROXY, "");
    if (!code && ca_file)
        code = lib.curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file);
    if (!code)
        code = lib.curl_easy_setopt(curl, CURLOPT_URL, url);
    if (!code)
        code = lib.curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
    if (!code)
        code = lib.curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
    return code;
}

/* The result of the request. */
static mcp_status outcome(CURL *curl, CURLcode code, const mcp_buf *body, mcp_error *err)
{
    long status = 0;

    if (body->status != MCP_OK)
        return mcp_error_set(err, body->status, "the keys' address answers more than %zu bytes",
                             body->max_bytes);
    if (code == CURLE_OUT_OF_MEMORY)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to fetch keys");
    if (code == CURLE_OPERATION_TIMEDOUT)
        return mcp_error_set(err, MCP_E_TIMEOUT, "the keys' address does not answer within %d ms",
                             AUTH_FETCH_TIMEOUT_MS);
    if (code != CURLE_OK)
        return mcp_error_set(err, MCP_E_IO, "the keys' address fails: %s",
                             lib.curl_easy_strerror(code));
    lib.curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200)
        return mcp_error_set(err, MCP_E_IO, "the keys' address answers with status %ld", status);
    return MCP_OK;
}

mcp_status auth_fetch(mcp_buf *body, const char *url, const char *ca_file, mcp_error *err)
{
    mcp_status st = need_curl(err);
    CURL *curl = st == MCP_OK ? lib.curl_easy_init() : NULL;
    if (st != MCP_OK)
        return st;
    if (!curl)
        return mcp_error_set(err, MCP_E_NOMEM, "libcurl does not begin");
    CURLcode code = set_up(curl, body, url, ca_file);
    if (code == CURLE_OK)
        code = lib.curl_easy_perform(curl);
    st = outcome(curl, code, body, err);
    lib.curl_easy_cleanup(curl);
    return st;
}
