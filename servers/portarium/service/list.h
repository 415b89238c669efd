/**
 * list.h - answers that are pages of a collection.
 */
#ifndef PORTARIUM_SERVICE_LIST_H
#define PORTARIUM_SERVICE_LIST_H

#include "service/operation.h"
#include "store/page.h"

/** Writes the view of a record. @return MCP_OK; else the answer fails */
typedef mcp_status portarium_view_writer(mcp_json_writer *json, portarium_tx *tx,
                                         const portarium_record *record, mcp_error *err);

/**
 * Read limit, cursor, sort, q and the collection's filters from the request's arguments.
 *
 * @return MCP_OK; MCP_E_PARAMS: one of them is invalid; reply->fields names it
 */
mcp_status portarium_query_read(portarium_query *out, const portarium_collection *where,
                                const portarium_request *request, portarium_reply *reply,
                                mcp_error *err);

/** Read an argument that is a number from 1. @param out stays as it is where there is none
 *  @return false: it is no such number; reply->fields names it */
bool portarium_argument_number(int64_t *out, portarium_reply *reply,
                               const portarium_request *request, const char *name);

/** Answer 200 with {"items":[...],"nextCursor"?}. @param write NULL: the documents as they are */
mcp_status portarium_reply_list(portarium_reply *reply, portarium_tx *tx,
                                const portarium_collection *where, const portarium_request *request,
                                portarium_view_writer *write, mcp_error *err);

/** The same with a query of the operation's own. */
mcp_status portarium_reply_query(portarium_reply *reply, portarium_tx *tx,
                                 const portarium_collection *where, const portarium_query *query,
                                 portarium_view_writer *write, mcp_error *err);

/** Answer 200 with the view of one record. */
mcp_status portarium_reply_view(portarium_reply *reply, portarium_tx *tx,
                                const portarium_record *record, portarium_view_writer *write,
                                mcp_error *err);

/** Hold If-Match against the view of a record, which GET answers with.
 *  @return as portarium_check_if_match */
mcp_status portarium_check_if_match_view(portarium_reply *reply, portarium_tx *tx,
                                         const portarium_request *request,
                                         const portarium_record *record,
                                         portarium_view_writer *write, mcp_error *err);

#endif
