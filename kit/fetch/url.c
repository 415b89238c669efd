/*
 * url.c - reading the scheme, the host and the port of a URL.
 *
 * inet_aton() and many HTTP clients read "2130706433", "0x7f.1" and "0177.0.0.1" as 127.0.0.1.
 * As in the URL Standard of WHATWG a host whose last label is a number is taken for an IPv4
 * address; here it must be one in the usual spelling.
 */
#include "fetch/url.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

#define LABEL_MAX 63
#define BRACKETED_MAX 47 /* with its brackets and a NUL */

static mcp_status bad(mcp_error *err, const char *why)
{
    return mcp_error_set(err, MCP_E_PARAMS, "not a URL to send a request to: %s", why);
}

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Whether the last label is made of digits, or begins with 0x. */
static bool ends_in_number(const char *host)
{
    const char *dot = strrchr(host, '.');
    const char *label = dot ? dot + 1 : host;

    if (label[0] == '0' && label[1] == 'x')
        return true;
    return label[0] != '\0' && label[strspn(label, "0123456789")] == '\0';
}

static bool are_labels(const char *host)
{
    size_t length = 0;

    for (const char *c = host; *c; c++) {
        if (*c == '.' && length == 0)
            return false;
        length = *c == '.' ? 0 : length + 1;
        if (length > LABEL_MAX || (*c != '.' && *c != '-' && *c != '_' && !is_letter_or_digit(*c)))
            return false;
    }
    return length > 0;
}

static mcp_status read_bracketed(fetch_url *out, const char *host, size_t length, mcp_error *err)
{
    if (length < 4 || length >= BRACKETED_MAX || host[length - 1] != ']')
        return bad(err, "the IPv6 address is damaged");
    memcpy(out->host, host + 1, length - 2);
    out->host[length - 2] = '\0';
    if (inet_pton(AF_INET6, out->host, out->address) != 1)
        return bad(err, "the IPv6 address is damaged");
    out->family = AF_INET6;
    inet_ntop(AF_INET6, out->address, out->host, sizeof out->host);
    return MCP_OK;
}

mcp_status fetch_url_read_host(fetch_url *out, const char *host, size_t length, mcp_error *err)
{
    if (length == 0 || length > FETCH_HOST_MAX)
        return bad(err, "the host is empty or too long");
    if (host[0] == '[')
        return read_bracketed(out, host, length, err);
    for (size_t i = 0; i < length; i++)
        out->host[i] = (char)tolower((unsigned char)host[i]);
    out->host[length] = '\0';
    if (strlen(out->host) != length || !are_labels(out->host))
        return bad(err, "the host is no name of letters, digits, '-', '_' and single dots");
    out->family = 0;
    if (!ends_in_number(out->host))
        return MCP_OK;
    if (inet_pton(AF_INET, out->host, out->address) != 1)
        return mcp_error_set(err, MCP_E_DENIED, "%s: an IPv4 address in an unusual spelling",
                             out->host);
    out->family = AF_INET;
    return MCP_OK;
}

/* The number behind the colon; an empty one is refused. */
static bool read_port(uint16_t *out, const char *text, size_t length)
{
    unsigned long port = 0;

    if (length == 0 || length > 5)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        port = port * 10 + (unsigned long)(text[i] - '0');
    }
    if (port == 0 || port > UINT16_MAX)
        return false;
    *out = (uint16_t)port;
    return true;
}

static mcp_status read_authority(fetch_url *out, const char *text, size_t length, mcp_error *err)
{
    const char *end = text[0] == '[' ? memchr(text, ']', length) : text;
    const char *colon = end ? memchr(end, ':', length - (size_t)(end - text)) : NULL;
    size_t host_length = colon ? (size_t)(colon - text) : length;

    if (memchr(text, '@', length))
        return bad(err, "it has user information");
    if (colon && !read_port(&out->port, colon + 1, length - host_length - 1))
        return bad(err, "the port is no number from 1 to 65535");
    return fetch_url_read_host(out, text, host_length, err);
}

mcp_status fetch_url_read(fetch_url *out, const char *url, mcp_error *err)
{
    fetch_url made = { .port = 80 };
    const char *authority = url;

    if (strnlen(url, FETCH_URL_MAX + 1) > FETCH_URL_MAX)
        return bad(err, "it is too long");
    for (const char *c = url; *c; c++) {
        if (*c <= ' ' || *c > '~' || *c == '\\')
            return bad(err, "it has a space, a backslash, a control or a non-ASCII character");
    }
    if (strncasecmp(url, "http://", 7) == 0)
        authority += 7;
    else if (strncasecmp(url, "https://", 8) == 0)
        authority += 8;
    else
        return bad(err, "it does not begin with http:// or https://");
    made.is_tls = authority - url == 8;
    if (made.is_tls)
        made.port = 443;
    mcp_status st = read_authority(&made, authority, strcspn(authority, "/?#"), err);
    if (st == MCP_OK)
        *out = made;
    return st;
}

bool fetch_url_is_trustworthy(const fetch_url *url)
{
    return url->is_tls || strcmp(url->host, "127.0.0.1") == 0 || strcmp(url->host, "::1") == 0 ||
           strcmp(url->host, "localhost") == 0;
}
