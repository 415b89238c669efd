/*
 * curl.c - opening libcurl once.
 */
#include "fetch/curl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define CURL_LIBRARY "libcurl.so.4"

/* Never changed once `begin` has returned. */
static struct fetch_curl functions;
static bool is_open;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The library stays open: it may have threads of its own. POSIX lets dlsym() give functions; C
 * does not let a void * be assigned to one. */
static void begin(void)
{
    void *handle = dlopen(CURL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    bool is_whole = handle != NULL;

#define X(name)                                                                                    \
    if (is_whole) {                                                                                \
        void *symbol = dlsym(handle, #name);                                                       \
        memcpy(&functions.name, &symbol, sizeof symbol);                                           \
        is_whole = symbol != NULL;                                                                 \
    }
    FETCH_CURL_FUNCTIONS(X)
#undef X
    is_open = is_whole && functions.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

mcp_status fetch_curl_open(const struct fetch_curl **out, mcp_error *err)
{
    pthread_once(&once, begin);
    if (!is_open)
        return mcp_error_set(err, MCP_E_UNSUPPORTED,
                             "no HTTP requests can be sent: " CURL_LIBRARY " cannot be used");
    *out = &functions;
    return MCP_OK;
}
