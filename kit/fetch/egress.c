/*
 * egress.c - reading the list, and judging hosts and addresses by it.
 *
 * A name is judged by its text when the request begins, an address when its socket is made. So a
 * name that resolves to another address between the two is judged by the one it is connected to.
 */
#include "fetch/egress.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mcp/alloc.h"

enum kind { ANY_HOST, EXACT_HOST, BELOW_HOST, RANGE };

struct range {
    int family;
    unsigned bits;
    uint8_t bytes[16];
};

struct entry {
    enum kind kind;
    int tls;          /* 1: https only, 0: http only, -1: both */
    uint16_t port;    /* 0: any */
    fetch_url host;   /* EXACT_HOST, BELOW_HOST */
    struct range net; /* RANGE */
};

struct fetch_egress {
    size_t count;
    struct entry entries[];
};

/* ---- addresses ------------------------------------------------------------------------------- */

/* The registries of RFC 6890, as of IPv4; multicast is RFC 5771. */
static const struct range special_v4[] = {
    { AF_INET, 8, { 0 } },
    { AF_INET, 8, { 10 } },
    { AF_INET, 10, { 100, 64 } },
    { AF_INET, 8, { 127 } },
    { AF_INET, 16, { 169, 254 } },
    { AF_INET, 12, { 172, 16 } },
    { AF_INET, 24, { 192, 0, 0 } },
    { AF_INET, 24, { 192, 0, 2 } },
    { AF_INET, 24, { 192, 88, 99 } },
    { AF_INET, 16, { 192, 168 } },
    { AF_INET, 15, { 198, 18 } },
    { AF_INET, 24, { 198, 51, 100 } },
    { AF_INET, 24, { 203, 0, 113 } },
    { AF_INET, 4, { 224 } },
    { AF_INET, 4, { 240 } },
};

/* Inside 2000::/3; everything outside is special. 2001::/23 has Teredo, which holds IPv4. */
static const struct range special_v6[] = {
    { AF_INET6, 23, { 0x20, 0x01 } },
    { AF_INET6, 32, { 0x20, 0x01, 0x0d, 0xb8 } },
    { AF_INET6, 16, { 0x20, 0x02 } },
    { AF_INET6, 20, { 0x3f, 0xff } },
};
static const struct range global_v6 = { AF_INET6, 3, { 0x20 } };

/* Prefixes of IPv6 addresses that hold an IPv4 address, and the byte that it begins at. */
static const struct {
    struct range prefix;
    size_t at;
} embedding[] = {
    { { AF_INET6, 96, { [10] = 0xff, [11] = 0xff } }, 12 },           /* mapped, RFC 4291 */
    { { AF_INET6, 96, { 0x00, 0x64, 0xff, 0x9b } }, 12 },             /* NAT64, RFC 6052 */
    { { AF_INET6, 48, { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 } }, 12 }, /* NAT64, RFC 8215 */
    { { AF_INET6, 16, { 0x20, 0x02 } }, 2 },                          /* 6to4, RFC 3056 */
};

static bool is_in(const struct range *range, int family, const uint8_t *address)
{
    size_t whole = range->bits / 8;
    unsigned rest = range->bits % 8;
    unsigned mask = 0xff00u >> rest & 0xff;

    if (range->family != family || memcmp(range->bytes, address, whole) != 0)
        return false;
    return rest == 0 || (range->bytes[whole] & mask) == (address[whole] & mask);
}

static bool is_in_any(const struct range *ranges, size_t count, int family, const uint8_t *address)
{
    for (size_t i = 0; i < count; i++) {
        if (is_in(&ranges[i], family, address))
            return true;
    }
    return false;
}

static bool is_public(int family, const uint8_t *address)
{
    if (family == AF_INET)
        return !is_in_any(special_v4, sizeof special_v4 / sizeof special_v4[0], family, address);
    return is_in(&global_v6, family, address) &&
           !is_in_any(special_v6, sizeof special_v6 / sizeof special_v6[0], family, address);
}

static bool is_loopback(int family, const uint8_t *address)
{
    static const uint8_t one[16] = { [15] = 1 };

    return family == AF_INET ? address[0] == 127 : memcmp(address, one, sizeof one) == 0;
}

/* Whether the list has the address by itself, or for this URL. */
static bool is_listed(const fetch_egress *self, const fetch_url *url, int family,
                      const uint8_t *address)
{
    size_t size = family == AF_INET ? 4 : 16;

    for (size_t i = 0; i < self->count; i++) {
        const struct entry *entry = &self->entries[i];
        if (entry->kind == RANGE && is_in(&entry->net, family, address))
            return true;
        if (entry->kind != EXACT_HOST || strcmp(entry->host.host, url->host) != 0)
            continue;
        if (entry->host.family == family && memcmp(entry->host.address, address, size) == 0)
            return true;
        if (strcmp(url->host, "localhost") == 0 && is_loopback(family, address))
            return true;
    }
    return false;
}

static bool is_allowed(const fetch_egress *self, const fetch_url *url, int family,
                       const uint8_t *address)
{
    if (is_public(family, address))
        return true;
    if (!is_listed(self, url, family, address))
        return false;
    for (size_t i = 0; family == AF_INET6 && i < sizeof embedding / sizeof embedding[0]; i++) {
        if (is_in(&embedding[i].prefix, family, address))
            return is_allowed(self, url, AF_INET, address + embedding[i].at);
    }
    return true;
}

mcp_status fetch_egress_check_address(const fetch_egress *self, const fetch_url *url,
                                      const struct sockaddr *address, socklen_t size,
                                      mcp_error *err)
{
    struct sockaddr_storage copy = { 0 };
    char text[INET6_ADDRSTRLEN] = "?";
    const uint8_t *bytes = NULL;

    if (size <= sizeof copy)
        memcpy(&copy, address, size);
    if (copy.ss_family == AF_INET && size >= sizeof(struct sockaddr_in))
        bytes = (const uint8_t *)&((struct sockaddr_in *)&copy)->sin_addr;
    if (copy.ss_family == AF_INET6 && size >= sizeof(struct sockaddr_in6))
        bytes = (const uint8_t *)&((struct sockaddr_in6 *)&copy)->sin6_addr;
    if (bytes && is_allowed(self, url, copy.ss_family, bytes))
        return MCP_OK;
    if (bytes)
        inet_ntop(copy.ss_family, bytes, text, sizeof text);
    return mcp_error_set(err, MCP_E_DENIED, "%s: the egress list does not have its address %s",
                         url->host, text);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

static bool is_below(const char *host, const char *parent)
{
    size_t length = strlen(host);
    size_t tail = strlen(parent);

    return length > tail + 1 && host[length - tail - 1] == '.' &&
           strcmp(host + length - tail, parent) == 0;
}

static bool has_host(const struct entry *entry, const fetch_url *url)
{
    switch (entry->kind) {
    case ANY_HOST:
        return true;
    case EXACT_HOST:
        return strcmp(entry->host.host, url->host) == 0;
    case BELOW_HOST:
        return url->family == 0 && is_below(url->host, entry->host.host);
    case RANGE:
        return url->family != 0 && is_in(&entry->net, url->family, url->address);
    }
    return false;
}

mcp_status fetch_egress_check_url(const fetch_egress *self, const fetch_url *url, mcp_error *err)
{
    for (size_t i = 0; i < self->count; i++) {
        const struct entry *entry = &self->entries[i];
        if (has_host(entry, url) && (entry->tls < 0 || entry->tls == (int)url->is_tls) &&
            (entry->port == 0 || entry->port == url->port))
            return MCP_OK;
    }
    return mcp_error_set(err, MCP_E_DENIED, "the egress list does not have %s://%s:%u",
                         url->is_tls ? "https" : "http", url->host, url->port);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* "ADDRESS/BITS"; bits behind the prefix must be zero. */
static bool read_range(struct range *out, const char *text)
{
    char address[INET6_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    char *end = NULL;
    size_t length = (size_t)(slash - text);

    if (length >= sizeof address || slash[1] < '0' || slash[1] > '9')
        return false;
    memcpy(address, text, length);
    address[length] = '\0';
    out->family = strchr(address, ':') ? AF_INET6 : AF_INET;
    unsigned long bits = strtoul(slash + 1, &end, 10);
    if (*end != '\0' || bits > (out->family == AF_INET ? 32 : 128) ||
        inet_pton(out->family, address, out->bytes) != 1)
        return false;
    out->bits = (unsigned)bits;
    for (unsigned bit = out->bits; bit < (out->family == AF_INET ? 32u : 128u); bit++) {
        if (out->bytes[bit / 8] >> (7 - bit % 8) & 1)
            return false;
    }
    return true;
}

/* "HOST" or "HOST:PORT"; the port is read as that of a URL. */
static bool read_host(struct entry *out, const char *text)
{
    char url[sizeof "http://" + FETCH_HOST_MAX + sizeof ":65535"] = "http://";
    const char *close = text[0] == '[' ? strchr(text, ']') : text;
    bool has_port = close && strchr(close, ':');

    if (strlen(text) >= sizeof url - strlen(url) || strpbrk(text, "/?#"))
        return false;
    memcpy(url + strlen(url), text, strlen(text) + 1);
    if (fetch_url_read(&out->host, url, NULL) != MCP_OK)
        return false;
    out->port = has_port ? out->host.port : 0;
    return true;
}

static bool read_entry(struct entry *out, const char *text)
{
    *out = (struct entry){ .kind = EXACT_HOST, .tls = -1 };
    if (strncasecmp(text, "https://", 8) == 0) {
        out->tls = 1;
        text += 8;
    } else if (strncasecmp(text, "http://", 7) == 0) {
        out->tls = 0;
        text += 7;
    }
    if (out->tls < 0 && strchr(text, '/')) {
        out->kind = RANGE;
        return read_range(&out->net, text);
    }
    if (strcmp(text, "*") == 0) {
        out->kind = ANY_HOST;
        return true;
    }
    if (text[0] == '*' && text[1] == '.') {
        out->kind = BELOW_HOST;
        return read_host(out, text + 2) && out->host.family == 0;
    }
    return read_host(out, text);
}

mcp_status fetch_egress_new(fetch_egress **out, const char *const *entries, size_t count,
                            mcp_error *err)
{
    if (count > FETCH_EGRESS_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "an egress list has at most %d entries",
                             FETCH_EGRESS_MAX);
    fetch_egress *self = mcp_alloc_zeroed(1, sizeof *self + count * sizeof self->entries[0]);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an egress list");
    self->count = count;
    for (size_t i = 0; i < count; i++) {
        if (!read_entry(&self->entries[i], entries[i])) {
            free(self);
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "egress list: \"%.100s\" is no host, *.host, host:port or "
                                 "address/bits",
                                 entries[i]);
        }
    }
    *out = self;
    return MCP_OK;
}

void fetch_egress_free(fetch_egress *self)
{
    free(self);
}
