/*
 * plane.h - a control plane under measurement: a database of its own with workspaces, people and
 * workflows, and one or more processes of portarium that serve it.
 *
 * The workspaces are ws-1, ws-2, ...; each has the workflows `noop` (one built-in action) and
 * `gate` (the same behind an approval of a person). A PostgreSQL is started for the bench, with the
 * durability of its default settings. Its folder goes when the bench ends.
 */
#ifndef BENCH_PLANE_H
#define BENCH_PLANE_H

#include <stdbool.h>

#include "support/load.h"

enum { PLANE_ID_MAX = 64 };
enum { PLANE_TOKEN_MAX = 96, PLANE_SITES_MAX = 2, PLANE_FOLDER_MAX = 64, PLANE_URL_MAX = 256 };

typedef struct plane {
    char folder[PLANE_FOLDER_MAX];
    char url[PLANE_URL_MAX];
    site sites[PLANE_SITES_MAX];
    int count;
} plane;

/** The program: the argument of the bench, else portarium of CAUSEWAY_BIN or build/bin. */
void plane_program(int argc, char **argv);

/** Its path. */
char *plane_program_path(void);

/** Make the database; nothing is served yet. Without workspaces it is not even a file. */
void plane_open(plane *out, int workspaces, bool is_postgres);

/** Start one more process and wait until it answers. @return it, borrowed */
const site *plane_serve(plane *it);

/** End the processes and remove the folder. */
void plane_close(plane *it);

/** Make a token of `subject` in workspace `number`. */
void plane_token(char out[PLANE_TOKEN_MAX], const plane *it, int number, const char *subject,
                 const char *roles);

/** Tokens of `count` operators of ws-1, put into the database. */
void plane_tokens(char (*out)[PLANE_TOKEN_MAX], int count, const plane *it);

/** Connect, and begin an MCP session with `token`, which is borrowed. */
void plane_connect(load *out, const site *site, size_t count, const char *token);

/** One number out of the database. */
int64_t plane_number(const plane *it, const char *sql);

/** The texts that `sql` selects, `count` of them. @return free it */
char (*plane_texts(const plane *it, const char *sql, size_t count))[PLANE_ID_MAX];

/** Run one statement in the database. */
void plane_execute(const plane *it, const char *sql);

/** Wait until `sql` gives at least `wanted`, at most a minute; gives up after that. */
void plane_wait(const plane *it, const char *sql, int64_t wanted);

double bench_load_average(void);

#endif
