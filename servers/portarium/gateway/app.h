/**
 * app.h - what the handlers of REST and MCP share.
 */
#ifndef PORTARIUM_GATEWAY_APP_H
#define PORTARIUM_GATEWAY_APP_H

#include "client/functions.h"
#include "gateway/exposures.h"
#include "gateway/limits.h"
#include "mcp/files.h"
#include "mcp/route.h"
#include "mcp/tool.h"
#include "serve/log.h"
#include "service/plane.h"

#ifndef PORTARIUM_VERSION
#define PORTARIUM_VERSION CAUSEWAY_VERSION
#endif

/** The program's embedded files. */
extern const mcp_file portarium_files[];

/** The token for development; `token` NULL: there is none. */
typedef struct portarium_dev {
    const char *token;
    portarium_actor actor;
} portarium_dev;

/** The form of errors in arguments. */
typedef enum portarium_arg_error {
    PORTARIUM_ARG_ERROR_AUTO,     /* by the revision of the call */
    PORTARIUM_ARG_ERROR_INTERNAL, /* -32603 */
    PORTARIUM_ARG_ERROR_PARAMS,   /* -32602 */
    PORTARIUM_ARG_ERROR_RESULT    /* isError */
} portarium_arg_error;

/** What the handlers know; read-only while serving. */
typedef struct portarium_app {
    portarium_plane *plane;           /* NULL: the plane is remote */
    portarium_client client;          /* that the tools call */
    portarium_exposures *exposures;   /* NULL: the plane is remote */
    const char *const *allowed_tools; /* ended by NULL; NULL: all */
    portarium_arg_error arg_error;
    bool compat_400;       /* rest.compat_400: the reference's mix of 400 and 422 */
    bool has_hsts;         /* answers have Strict-Transport-Security */
    const char *workspace; /* whose exposure of tools a local client sees in lists */
    portarium_dev dev;
    mcp_log log;
    portarium_limits *limits; /* NULL: none */
    portarium_actor local;    /* the actor of calls without a token, on standard input and output */
    bool has_local;
    bool is_alone;      /* every call is the local actor's, not the client's */
    int64_t started_ms; /* wall clock */
} portarium_app;

#endif
