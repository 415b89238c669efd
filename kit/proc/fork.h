/**
 * fork.h - children that are forks of a program which has initialised itself.
 *
 * A program that takes long to start is started once, as a fork server. It initialises itself
 * without threads and then calls proc_fork_serve. A child whose spec names the server is a fork of
 * it. Its namespaces, limits, descriptors, filters and its supervision are those of every other
 * child, made by the same code; only the exec is left out. The server does not talk with its
 * children, and they live on when it ends.
 *
 *     int main(int argc, char **argv)
 *     {
 *         if (proc_is_fork_server())
 *             return initialise() ? proc_fork_serve(run, data) : 1;
 *
 * A child has what the server had in its memory, so the server must know nothing that a child must
 * not know. All children of one server have the same layout of addresses and the same canary of the
 * stack. Linux only.
 */
#ifndef PROC_FORK_H
#define PROC_FORK_H

#include <stdbool.h>
#include <sys/types.h>

#include "mcp/error.h"

/** A fork server as its caller sees it. Threads may share it. */
typedef struct proc_fork_server proc_fork_server;

/**
 * Name the program. It is started by the first child that needs it, and again when it has ended.
 *
 * @param argv,env as in proc_spec, with the path of the program; copied
 * @return MCP_OK; MCP_E_PARAMS: no path; MCP_E_NOMEM
 */
mcp_status proc_fork_server_new(proc_fork_server **out, const char *const *argv,
                                const char *const *env, mcp_error *err);

/** End the server, not its children. NULL is fine. */
void proc_fork_server_free(proc_fork_server *self);

/** The process of the server, for logs; 0: it has not been started. */
pid_t proc_fork_server_pid(proc_fork_server *self);

/**
 * In the program: whether it was started as a fork server. Then it closes the descriptors that it
 * has inherited, and from now on no other process may trace it. Call it first.
 */
bool proc_is_fork_server(void);

/** A child: runs in its own process, with its protections. @return its exit status */
typedef int proc_forked(char **argv, void *data);

/**
 * In the program: fork children until the caller ends the server.
 *
 * @param run gets the arguments of the child's spec
 * @return the exit status of the server; 1: it has threads, which a fork would lose
 */
int proc_fork_serve(proc_forked *run, void *data);

#endif
