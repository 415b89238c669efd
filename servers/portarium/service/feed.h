/**
 * feed.h - committed events, handed to streams and to calls that wait.
 *
 * The feed reads the outbox behind the commits, of this process and of other replicas alike, and
 * publishes each event once per process, in order.
 */
#ifndef PORTARIUM_SERVICE_FEED_H
#define PORTARIUM_SERVICE_FEED_H

#include "bus/bus.h"
#include "db/db.h"
#include "jobs/waits.h"
#include "store/settings.h"

typedef struct portarium_feed portarium_feed;

/** Called for each workspace in which something was committed, on the feed's thread.
 *  @param of_policies a policy was among it
 *  @return MCP_OK; else it could not be read, and this is called again after a while */
typedef mcp_status portarium_on_news(const char *workspace, bool of_policies, void *data,
                                     mcp_error *err);

mcp_status portarium_feed_new(portarium_feed **out, db *database,
                              const portarium_settings *settings, portarium_on_news *on_news,
                              void *data, mcp_error *err);

/** Room for the text of portarium_feed_group. */
#define PORTARIUM_GROUP_SIZE 512

/** The group of a user's streams (bus_subscription), which end when the user is deactivated. */
void portarium_feed_group(char out[PORTARIUM_GROUP_SIZE], const char *subject);

/** Wakes all calls that wait, ends all streams. NULL is fine. */
void portarium_feed_free(portarium_feed *self);

/** Something was committed in the workspace. Any thread; never blocks. */
void portarium_feed_notify(portarium_feed *self, const char *workspace);

/** The streams of events; a topic is a workspace, an id is the event's number. */
bus *portarium_feed_bus(portarium_feed *self);

/** The calls that wait; the key of a record is "WORKSPACE/KIND/ID": "ws-1/run/r-9". The
 *  `data` of each is a struct whose first member is an mcp_call. */
jobs_waits *portarium_feed_waits(portarium_feed *self);

#endif
