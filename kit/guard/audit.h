/**
 * audit.h - a log of what was done, one JSON object a line, that is only ever appended to.
 *
 * Several threads and several processes may write one file. Each line is one write under a lock
 * (flock(2) on PATH.lock), so lines never mix; one that was cut by a full disk is taken back, and
 * one that was cut by the end of a process is ended before the next line. Every failure is
 * returned: whether the program may go on without its audit is the program's decision.
 *
 * A file that would exceed its bound becomes PATH.1, PATH.1 becomes PATH.2.gz, that PATH.3.gz, and
 * so on; the oldest is removed, and so are those that were last written too long ago. What is too
 * large to be compressed while other writers wait stays as it is, PATH.2 (guard/archive.h reads
 * both).
 *
 * In a chain each line has the member "prev", the SHA-256 of the line before without its newline
 * (64 zeros for the first line), so a line that is changed, removed or added later shows, unless
 * all lines after it are rewritten, too.
 */
#ifndef GUARD_AUDIT_H
#define GUARD_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"

/** The longest line, with its newline. */
#define GUARD_AUDIT_LINE_MAX ((size_t)16 << 10)

/** Zero is the default everywhere. */
typedef struct guard_audit_options {
    int64_t max_bytes; /* of a file; 0: 10 MiB; at least GUARD_AUDIT_LINE_MAX */
    int keep;          /* how many older files are kept, 1 to 100; 0: 10 */
    int lock_ms;       /* the longest wait for other processes; 0: 2,000 */
    int max_age_days;  /* of older files, since their last line; 0: no limit */
    bool is_chained;   /* lines have "prev" */
} guard_audit_options;

typedef struct guard_audit guard_audit;

/**
 * Open a log, or make it with mode 0600.
 *
 * @param out     yours, close it with guard_audit_close
 * @param path    its folder must exist; a link is refused
 * @param options NULL for the defaults
 * @return MCP_OK; MCP_E_PARAMS (options, too long a path, not a regular file); MCP_E_NOT_FOUND,
 *         MCP_E_DENIED, MCP_E_IO (the message names the path); MCP_E_NOMEM
 */
mcp_status guard_audit_open(guard_audit **out, const char *path, const guard_audit_options *options,
                            mcp_error *err);

/** NULL is fine. */
void guard_audit_close(guard_audit *self);

/** Room for the hash of a chain with its NUL. */
#define GUARD_AUDIT_HASH_SIZE 65

/** The hash that the line after this one has as "prev". @return MCP_OK; as mcp_sha256 */
mcp_status guard_audit_hash(char out[GUARD_AUDIT_HASH_SIZE], const char *line, size_t length,
                            mcp_error *err);

/**
 * Append a line. "ts" (UTC, milliseconds), "pid" and "seq" (from 1 for each guard_audit) are put
 * before the object's own members, which must have other names. Any thread.
 *
 * @param object     one JSON object as mcp_json_writer writes it, without control characters; what
 *                   is secret was taken out (guard/redact.h)
 * @param is_durable also wait until the disk has it
 * @return MCP_OK; MCP_E_PARAMS (no such object); MCP_E_LIMIT (too long); MCP_E_BUSY (the lock was
 *         not free in time); MCP_E_STORAGE (the disk is full); MCP_E_IO and the statuses of opening.
 *         Nothing of the line is in the file then, except where only the wait for the disk failed.
 */
mcp_status guard_audit_write(guard_audit *self, const char *object, size_t length, bool is_durable,
                             mcp_error *err);

#endif
