/**
 * url.h - the parts of an http or https URL that decide where a request goes.
 *
 * The reader is stricter than RFC 3986, so that no two readers of one URL can disagree about its
 * host: no user information, no backslash, no space, control or non-ASCII character, no
 * percent-encoding in the host.
 */
#ifndef FETCH_URL_H
#define FETCH_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"

#define FETCH_URL_MAX 8192
#define FETCH_HOST_MAX 253

/** Where a URL leads. */
typedef struct fetch_url {
    bool is_tls;                   /* https */
    uint16_t port;                 /* 80 or 443 where the URL has none */
    int family;                    /* AF_INET, AF_INET6: the host is an address; 0: a name */
    uint8_t address[16];           /* network order; the first 4 bytes for AF_INET */
    char host[FETCH_HOST_MAX + 1]; /* lower case; an IPv6 address without brackets */
} fetch_url;

/**
 * Read a URL.
 *
 * @return MCP_OK; MCP_E_PARAMS (not such a URL, or longer than FETCH_URL_MAX); MCP_E_DENIED (the
 *         host is an IPv4 address in another spelling than four decimal numbers)
 */
mcp_status fetch_url_read(fetch_url *out, const char *url, mcp_error *err);

/**
 * Read a host as it is written in a URL; `out->host`, `family` and `address` are filled in.
 *
 * @return as fetch_url_read
 */
mcp_status fetch_url_read_host(fetch_url *out, const char *host, size_t length, mcp_error *err);

/** Whether the URL is an http one to 127.0.0.1, ::1 or localhost, or an https one. */
bool fetch_url_is_trustworthy(const fetch_url *url);

#endif
