/**
 * error.h - how every fallible function of libmcp says what went wrong.
 *
 * A function returns a status to branch on and fills an error object to read. The object is the
 * caller's, is passed last, may be NULL, and allocates nothing; the lowest layer that knows the cause
 * fills it and the layers above pass it on untouched. There is no "last error" anywhere.
 */
#ifndef MCP_ERROR_H
#define MCP_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * One row a status: its name, the JSON-RPC code it is sent as, and its words.
 * Codes: JSON-RPC 2.0 section 5.1 and the MCP revisions.
 */
#define MCP_STATUS_MAP(X)                                                                          \
    X(OK, 0, "done")                                                                               \
    X(E_PARSE, -32700, "the text is not JSON")                                                     \
    X(E_REQUEST, -32600, "the JSON is not a JSON-RPC request")                                     \
    X(E_METHOD, -32601, "no such method in this protocol revision")                                \
    X(E_PARAMS, -32602, "the parameters do not fit")                                               \
    X(E_INTERNAL, -32603, "the server failed")                                                     \
    X(E_RESOURCE, -32002, "no such resource")                                                      \
    X(E_NOMEM, -32603, "out of memory")                                                            \
    X(E_IO, -32603, "reading or writing failed")                                                   \
    X(E_LIMIT, -32603, "a limit was reached")                                                      \
    X(E_BUSY, -32603, "the server is busy")                                                        \
    X(E_TIMEOUT, -32603, "the time limit passed")                                                  \
    X(E_STOPPED, -32603, "the work was stopped from outside")                                      \
    X(E_NOT_FOUND, -32603, "no such file or name")                                                 \
    X(E_DENIED, -32603, "not allowed")                                                             \
    X(E_SCHEMA, -32602, "the value does not fit its schema")                                       \
    X(E_UNSUPPORTED, -32603, "not supported")                                                      \
    X(E_ENVELOPE, -32602, "the request's _meta does not fit")                                      \
    X(E_HEADERS, -32020, "the HTTP headers do not agree with the body")                            \
    X(E_CAPABILITY, -32021, "the client did not declare a capability that this needs")             \
    X(E_REVISION, -32022, "the protocol revision is not served")                                   \
    X(E_ASKED, -32603, "the client was asked and has not answered yet")                            \
    X(E_EXISTS, -32603, "it is there already")                                                     \
    X(E_SCOPE, -32600, "the token allows too little")                                              \
    X(E_URL, -32042, "the user must have been at an address first")                                \
    X(E_LATER, -32603, "the answer comes later")

/** What a function ended with; MCP_OK is 0. One value a row of MCP_STATUS_MAP. */
typedef enum mcp_status {
#define X(name, rpc_code, words) MCP_##name,
    MCP_STATUS_MAP(X)
#undef X
} mcp_status;

/** What went wrong. Lives with the caller; nothing in it needs freeing. */
typedef struct mcp_error {
    mcp_status status; /* what a caller may branch on */
    int64_t offset;    /* byte position for MCP_E_PARSE, else -1 */
    char message[240]; /* one line for people, UTF-8; cut at a character where it is too long */
} mcp_error;

/** An error object that holds no error yet. */
/* clang-format off */
#define MCP_ERROR_INIT { MCP_OK, -1, "" }
/* clang-format on */

#if defined(__GNUC__)
/** Lets the compiler hold the arguments against the format, as it does for printf. */
#define MCP_PRINTF(format_index, first_argument)                                                   \
    __attribute__((format(printf, format_index, first_argument)))
#else
#define MCP_PRINTF(format_index, first_argument)
#endif

/**
 * Fill an error and hand its status back, so that `return mcp_error_set(err, ...)` is one line.
 *
 * @param err    may be NULL
 * @param status returned as it is
 * @param format one line, impersonal, naming the thing, the place and the way out
 */
mcp_status mcp_error_set(mcp_error *err, mcp_status status, const char *format, ...)
    MCP_PRINTF(3, 4);

/** As mcp_error_set, with the byte position at which reading failed. */
mcp_status mcp_error_at(mcp_error *err, mcp_status status, int64_t offset, const char *format, ...)
    MCP_PRINTF(4, 5);

/**
 * Fill an error from an errno value: the message gets ": " and the system's words appended. ENOENT
 * and ENOTDIR become MCP_E_NOT_FOUND, EACCES and EPERM MCP_E_DENIED, ENOMEM MCP_E_NOMEM, all else
 * MCP_E_IO.
 */
mcp_status mcp_error_errno(mcp_error *err, int errno_value, const char *format, ...)
    MCP_PRINTF(3, 4);

/* The status comes back as it is, which clang's analyzer cannot see from here. */
#ifdef __clang_analyzer__
#define mcp_error_set(err, status, ...)                                                            \
    ((void)(mcp_error_set)((err), (status), __VA_ARGS__), (status))
#endif

/** The constant words of a status ("out of memory"); never NULL. */
const char *mcp_status_words(mcp_status status);

/** The constant name of a status ("E_NOMEM"); never NULL. */
const char *mcp_status_name(mcp_status status);

/** The JSON-RPC error code of a status; 0 for MCP_OK. */
int mcp_status_code(mcp_status status);

#ifdef __cplusplus
}
#endif

#endif
