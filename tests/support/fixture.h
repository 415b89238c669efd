/*
 * fixture.h - a small server with one feature of each kind, for conversations in tests.
 *
 * tools      fix/echo   gives back its text; has an output schema
 *            fix/save   writes, so it is refused unless the server may
 *            fix/blocks answers with one content block of each type
 *            fix/refuse refuses; fix/fail fails with the status in its argument
 *            fix/count  reports progress `to` times and stops when asked to
 * resources fix://text, fix://bytes, fix://folder, fix://case/{case_dir}/config,
 * fix://find{?q,limit} prompts fix/greet, fix/review
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "mcp/arena.h"
#include "mcp/server.h"

/** Its features; constant. */
extern const mcp_features fixture_features;

/** `count` further resources "many://0", "many://1", ..., for lists that have pages. In `arena`. */
mcp_features fixture_many(mcp_arena *arena, int count);

#endif
