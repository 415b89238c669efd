/*
 * oom.h - walk through every place where memory may run out.
 */
#ifndef TESTS_OOM_H
#define TESTS_OOM_H

#include "mcp/error.h"

/* Does the thing under test once, from nothing, and frees all of it whatever comes out. */
typedef mcp_status oom_step(void *data);

/*
 * Run `step` with the first allocation refused, then with the second, and so on, until it runs
 * through. Each run in which memory was refused must return MCP_E_NOMEM, the last one MCP_OK; what
 * leaks is found by AddressSanitizer. Fails the test when it does not end after 10,000 rounds.
 */
void oom_walk(oom_step *step, void *data);

/*
 * A test that refers to this (assert_true(oom_has_new)) has an operator new that is refused too.
 * Clp leaks and frees twice after that, so it is not the default.
 */
extern int oom_has_new;

#endif
