/**
 * page.h - lists of records: filters, order, pages.
 *
 * A page begins behind the last record of the page before, whatever was inserted meanwhile: the
 * cursor is that record's sort key and id. A page ends before the record that would make it longer
 * than PORTARIUM_PAGE_BYTES; it has at least one.
 */
#ifndef PORTARIUM_STORE_PAGE_H
#define PORTARIUM_STORE_PAGE_H

#include "store/record.h"

enum { PORTARIUM_LIMIT = 50, PORTARIUM_LIMIT_MAX = 200, PORTARIUM_PAGE_BYTES = 2 << 20 };

/** A page of a list. */
typedef struct portarium_page {
    portarium_record *items;
    size_t count;
    const char *next_cursor; /* NULL: it is the last page */
} portarium_page;

/** A condition of a list. */
typedef struct portarium_filter {
    const char *name;  /* of a member, or of a link's filter */
    const char *value; /* of `status` also several: "pending,assigned" */
    const char *other; /* another value that fits, too; NULL: none */
} portarium_filter;

/** Which records a list has, in which order. Zero: all, the newest first. */
typedef struct portarium_query {
    portarium_filter filters[8];
    size_t filter_count;
    const char *search; /* part of the id or of a searched column, ASCII without case; NULL: none */
    const char *sort;   /* a member that may be sorted by; NULL: the time of creation */
    bool ascends;
    const char *cursor; /* of the page before, or a record's id; NULL: the first page */
    int limit;          /* 1 to 200 */
} portarium_query;

/** What tells lists apart: collection, workspace, filters, search and order. For cursors. */
uint64_t portarium_query_hash(const portarium_query *query, const portarium_collection *where,
                              const char *workspace);

/**
 * List records.
 *
 * @return MCP_OK; MCP_E_PARAMS: an unknown filter or sort key, or an invalid cursor; statuses of
 *         db.h
 */
mcp_status portarium_page_read(portarium_page *out, portarium_tx *tx,
                               const portarium_collection *where, const portarium_query *query,
                               mcp_error *err);

#endif
