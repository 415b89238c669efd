/**
 * egress.h - the list of hosts and addresses that requests may go to.
 *
 * An entry is one of:
 *
 *     api.example.com             that host, any port, http and https
 *     *.example.com               every name below example.com, not example.com itself
 *     *                           every name, and every public address
 *     https://api.example.com     that host by https only
 *     api.example.com:8443        that host and that port only; with a scheme before it, too
 *     10.1.2.3:8080  [::1]        a URL with exactly that address as its host
 *     localhost                   that name, at the loopback addresses
 *     10.0.0.0/8  fd00::/8        addresses: names of the list may resolve to them, and a URL may
 *                                 have them as its host
 *
 * The host of a URL must be in the list, and so must the address that it is connected to, unless
 * that address is a public one. Not public are all that the IANA registries of special-purpose
 * addresses name: this host, loopback, link-local, private and unique local addresses, shared
 * space, multicast, reserved and documentation ranges; and of IPv6 all that is outside 2000::/3.
 * Addresses that hold an IPv4 address (mapped, NAT64, 6to4) need an entry for the IPv6 range, and
 * the IPv4 address inside must be allowed, too.
 *
 * A list never changes, so threads may share it.
 */
#ifndef FETCH_EGRESS_H
#define FETCH_EGRESS_H

#include <stddef.h>
#include <sys/socket.h>

#include "fetch/url.h"
#include "mcp/error.h"

#define FETCH_EGRESS_MAX 1000

typedef struct fetch_egress fetch_egress;

/**
 * Read a list.
 *
 * @param out     yours, free it with fetch_egress_free
 * @param entries as above; not kept
 * @return MCP_OK; MCP_E_PARAMS (the message names the entry); MCP_E_LIMIT (more than
 *         FETCH_EGRESS_MAX); MCP_E_NOMEM
 */
mcp_status fetch_egress_new(fetch_egress **out, const char *const *entries, size_t count,
                            mcp_error *err);

/** NULL is allowed. */
void fetch_egress_free(fetch_egress *self);

/** Whether the list has the host, port and scheme of a URL. @return MCP_OK; MCP_E_DENIED */
mcp_status fetch_egress_check_url(const fetch_egress *self, const fetch_url *url, mcp_error *err);

/**
 * Whether a connection to `address` may be opened for a URL that fetch_egress_check_url accepted.
 *
 * @return MCP_OK; MCP_E_DENIED
 */
mcp_status fetch_egress_check_address(const fetch_egress *self, const fetch_url *url,
                                      const struct sockaddr *address, socklen_t size,
                                      mcp_error *err);

#endif
