/*
 * fuzz_fetch_url.c - a URL, a newline, an entry of an egress list.
 *
 * Beyond surviving: what is accepted has one reading. The host has no byte with a meaning in a URL,
 * a host that inet_aton() takes for an address is one in the usual spelling, and the accepted URL,
 * written down from its parts, reads the same.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fetch/egress.h"
#include "fetch/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool claim)
{
    if (!claim)
        abort();
}

static void check_url(const fetch_url *url)
{
    char again[FETCH_HOST_MAX + 40];
    struct in_addr address;
    fetch_url second;

    must(url->port > 0 && url->host[0] != '\0' && strlen(url->host) <= FETCH_HOST_MAX);
    must(strpbrk(url->host, "/?#@\\%[] \t\r\n") == NULL);
    must(url->family == AF_INET6 || strchr(url->host, ':') == NULL);
    must((url->family == AF_INET) == (inet_aton(url->host, &address) != 0));
    snprintf(again, sizeof again, url->family == AF_INET6 ? "%s://[%s]:%u/" : "%s://%s:%u/",
             url->is_tls ? "https" : "http", url->host, url->port);
    must(fetch_url_read(&second, again, NULL) == MCP_OK);
    must(second.port == url->port && second.is_tls == url->is_tls && second.family == url->family &&
         strcmp(second.host, url->host) == 0);
}

static void run(char *text)
{
    char *entry = strchr(text, '\n');
    fetch_url url;
    fetch_egress *list = NULL;

    if (entry)
        *entry++ = '\0';
    mcp_status st = fetch_url_read(&url, text, NULL);
    must(st == MCP_OK || st == MCP_E_PARAMS || st == MCP_E_DENIED);
    if (st == MCP_OK)
        check_url(&url);
    if (!entry)
        return;
    const char *entries[] = { entry };
    if (fetch_egress_new(&list, entries, 1, NULL) == MCP_OK && st == MCP_OK)
        fetch_egress_check_url(list, &url, NULL);
    fetch_egress_free(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    must(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    run(text);
    free(text);
    return 0;
}
