/**
 * error.h - how the functions of libmcp report errors.
 *
 * A function that can fail returns a status to branch on and fills an error object to read. The
 * object belongs to the caller, is the last argument, may be NULL, and allocates nothing. The
 * lowest layer that knows the cause fills it; higher layers pass it on unchanged. There is no
 * global "last error".
 */
#ifndef MCP_ERROR_H
#define MCP_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * One row per status: its name, its JSON-RPC error code and its text. The codes are those of
 * JSON-RPC 2.0, section 5.1, and of the MCP revisions.
 */
#define MCP_STATUS_MAP(X)                                                                          \
    X(OK, 0, "done")                                                                               \
    X(E_PARSE, -32700, "parse error")                                                              \
    X(E_REQUEST, -32600, "invalid request")                                                        \
    X(E_METHOD, -32601, "method not found")                                                        \
    X(E_PARAMS, -32602, "invalid params")                                                          \
    X(E_INTERNAL, -32603, "internal error")                                                        \
    X(E_RESOURCE, -32002, "resource not found")                                                    \
    X(E_NOMEM, -32603, "out of memory")                                                            \
    X(E_IO, -32603, "input/output error")                                                          \
    X(E_LIMIT, -32603, "limit exceeded")                                                           \
    X(E_BUSY, -32603, "server busy")                                                               \
    X(E_TIMEOUT, -32603, "timed out")                                                              \
    X(E_STOPPED, -32603, "stopped")                                                                \
    X(E_NOT_FOUND, -32603, "not found")                                                            \
    X(E_DENIED, -32603, "permission denied")                                                       \
    X(E_SCHEMA, -32602, "value does not match its schema")                                         \
    X(E_UNSUPPORTED, -32603, "not supported")                                                      \
    X(E_ENVELOPE, -32602, "invalid _meta")                                                         \
    X(E_HEADERS, -32020, "header mismatch")                                                        \
    X(E_CAPABILITY, -32021, "missing required client capability")                                  \
    X(E_REVISION, -32022, "unsupported protocol version")                                          \
    X(E_EXISTS, -32603, "already exists")                                                          \
    X(E_SCOPE, -32600, "insufficient scope")                                                       \
    X(E_URL_ELICITATION, -32042, "URL elicitation required")                                       \
    X(E_STORAGE, -32603, "insufficient storage")

/**
 * Statuses that are not errors: a handler returns one when its answer is not ready yet. Their
 * values are outside the range of errors.
 */
#define MCP_PENDING_MAP(X)                                                                         \
    X(E_INPUT_REQUIRED, -32603, "input required")                                                  \
    X(E_DEFERRED, -32603, "deferred")

/** The result of a function; MCP_OK is 0. One value per row of the two maps above. */
typedef enum mcp_status {
#define X(name, rpc_code, words) MCP_##name,
    MCP_STATUS_MAP(X) MCP_PENDING = 99, /* not used; the values above it are not errors */
    MCP_PENDING_MAP(X)
#undef X
} mcp_status;

/** An error. It belongs to the caller; nothing in it needs freeing. */
typedef struct mcp_error {
    mcp_status status; /* the status that the function returned */
    int64_t offset;    /* byte position of MCP_E_PARSE, else -1 */
    char message[240]; /* one line, UTF-8; cut at a character boundary when too long */
} mcp_error;

/** An error object without an error. */
/* clang-format off */
#define MCP_ERROR_INIT { MCP_OK, -1, "" }
/* clang-format on */

/** A struct with every field zero, without warnings in C and C++. */
/* clang-format off */
#ifdef __cplusplus
#define MCP_ZERO_INIT {}
#else
#define MCP_ZERO_INIT { 0 }
#endif
/* clang-format on */

#if defined(__GNUC__)
/** Makes the compiler check the arguments against the format, as for printf. */
#define MCP_PRINTF(format_index, first_argument)                                                   \
    __attribute__((format(printf, format_index, first_argument)))
#else
#define MCP_PRINTF(format_index, first_argument)
#endif

/**
 * Fill an error and return its status, so that a caller can write `return mcp_error_set(err, ...)`.
 *
 * @param err    may be NULL
 * @param status returned unchanged
 * @param format one impersonal line that names the object, the place and the remedy
 */
mcp_status mcp_error_set(mcp_error *err, mcp_status status, const char *format, ...)
    MCP_PRINTF(3, 4);

/** As mcp_error_set, with the byte position of the error. */
mcp_status mcp_error_at(mcp_error *err, mcp_status status, int64_t offset, const char *format, ...)
    MCP_PRINTF(4, 5);

/**
 * Fill an error from an errno value: ": " and the text of strerror are appended to the message.
 * ENOENT and ENOTDIR become MCP_E_NOT_FOUND, EACCES and EPERM MCP_E_DENIED, ENOMEM MCP_E_NOMEM, all
 * others MCP_E_IO.
 */
mcp_status mcp_error_errno(mcp_error *err, int errno_value, const char *format, ...)
    MCP_PRINTF(3, 4);

/* Shows clang's analyzer that the status is returned unchanged. */
#ifdef __clang_analyzer__
#define mcp_error_set(err, status, ...)                                                            \
    ((void)(mcp_error_set)((err), (status), __VA_ARGS__), (status))
#endif

/** The text of a status ("out of memory"); a constant, never NULL. */
const char *mcp_status_words(mcp_status status);

/** The name of a status ("E_NOMEM"); a constant, never NULL. */
const char *mcp_status_name(mcp_status status);

/** The JSON-RPC error code of a status; 0 for MCP_OK. */
int mcp_status_code(mcp_status status);

#ifdef __cplusplus
}
#endif

#endif
