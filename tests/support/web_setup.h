/*
 * web_setup.h - how the server of an HTTP transcript is made, from the transcript's options.
 */
#ifndef TESTS_WEB_SETUP_H
#define TESTS_WEB_SETUP_H

#include <stdbool.h>

#include "mcp/arena.h"
#include "mcp/buf.h"
#include "mcp/http.h"
#include "scratch.h"
#include "web_rig.h"

#define WEB_SETUP_WORDS_MAX 8

typedef struct web_setup {
    mcp_arena *arena; /* borrowed */
    scratch folder;   /* for the file of tokens */
    mcp_server_options options;
    mcp_http_options http;
    mcp_http_auth auth;
    const char *hosts[WEB_SETUP_WORDS_MAX + 1];
    const char *origins[WEB_SETUP_WORDS_MAX + 1];
    const char *servers[2];
    mcp_buf tokens; /* lines of that file */
    bool more;      /* the second fixture, too */
    bool tasks;     /* instead of it the one whose tools run as tasks */
} web_setup;

void web_setup_init(web_setup *setup, mcp_arena *arena);

/** Where it points to itself it must not be moved from here on. Clear it after the server has
 *  ended. */
void web_setup_clear(web_setup *setup);

/** One option, "NAME VALUE", whose text outlives the server; false: there is none of that name. */
bool web_setup_option(web_setup *setup, const char *text);

/** Start the server; a failure ends the test. */
web_rig *web_setup_start(const web_setup *setup);

#endif
