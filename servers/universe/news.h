/*
 * news.h - tells clients that subscribed to universe://{id}/state or /summary that it has changed: at once,
 * and then at most once a second a universe.
 */
#ifndef UNIVERSE_NEWS_H
#define UNIVERSE_NEWS_H

#include "mcp/server.h"
#include "service/service.h"

typedef struct universe_news universe_news;

/**
 * Begin; the service's watcher is taken.
 *
 * @param out     yours, end it by universe_news_stop before the server and the service are freed
 * @param server  borrowed
 * @param service borrowed
 * @return MCP_OK; MCP_E_NOMEM; MCP_E_LIMIT: no thread
 */
mcp_status universe_news_start(universe_news **out, mcp_server *server, universe_service *service,
                               const mcp_log *log, mcp_error *err);

/** Nothing is told any more. NULL is fine. */
void universe_news_stop(universe_news *news);

#endif
