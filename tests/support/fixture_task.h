/*
 * fixture_task.h - tools that run as tasks.
 *
 * tools  task/plain   reports twice, then answers "done"
 *        task/only    is a task or nothing; refuses
 *        task/error   ends with an error of the protocol
 *        task/ask     asks two forms at once, then answers with both
 *        task/later   asks a form, becomes a task, answers
 *        task/big     answers with 1000 letters
 *        task/short   has a time limit of 1000 ms
 */
#ifndef FIXTURE_TASK_H
#define FIXTURE_TASK_H

#include "mcp/server.h"

/** Its features; constant. */
extern const mcp_features fixture_task;

#endif
