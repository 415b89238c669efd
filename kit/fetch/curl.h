/*
 * curl.h - the functions of libcurl, opened at first use.
 *
 * Linked, libcurl and its libraries would cost each start of a server 6 ms and 4 MB, and most
 * servers never send a request.
 */
#ifndef FETCH_CURL_H
#define FETCH_CURL_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "mcp/error.h"

#define FETCH_CURL_FUNCTIONS(X)                                                                    \
    X(curl_global_init)                                                                            \
    X(curl_slist_append)                                                                           \
    X(curl_slist_free_all)                                                                         \
    X(curl_easy_init)                                                                              \
    X(curl_easy_reset)                                                                             \
    X(curl_easy_setopt)                                                                            \
    X(curl_easy_getinfo)                                                                           \
    X(curl_easy_strerror)                                                                          \
    X(curl_easy_cleanup)                                                                           \
    X(curl_multi_init)                                                                             \
    X(curl_multi_setopt)                                                                           \
    X(curl_multi_add_handle)                                                                       \
    X(curl_multi_remove_handle)                                                                    \
    X(curl_multi_perform)                                                                          \
    X(curl_multi_poll)                                                                             \
    X(curl_multi_info_read)                                                                        \
    X(curl_multi_cleanup)

/* The functions under their own names. */
struct fetch_curl {
#define X(name) __typeof__(name) *name;
    FETCH_CURL_FUNCTIONS(X)
#undef X
};

/* The functions, the same for all threads. @return MCP_OK; MCP_E_UNSUPPORTED: there is no libcurl
 * on this machine */
mcp_status fetch_curl_open(const struct fetch_curl **out, mcp_error *err);

#endif
