/*
 * host_int.h - what a host is to start or call, shared by the command and the texts it prints.
 */
#ifndef HOST_HOST_INT_H
#define HOST_HOST_INT_H

#include "host/host.h"
#include "mcp/arena.h"
#include "mcp/buf.h"
#include "mcp/json.h"

/* Of a text of the answer. The words of a line are at most 2 MiB, and each byte becomes at most
 * three, twice. */
#define HOST_TEXT_MAX ((size_t)32 << 20)

/* A variable of --env, or the one of --bearer. */
typedef struct host_variable {
    const char *name;
    const char *value; /* NULL: the host has it */
} host_variable;

/* What a host starts or calls. */
typedef struct host_plan {
    const host_server *server;
    const char *name;
    const char *command;
    const char *const *words; /* of the arguments, those of the server first */
    size_t word_count;
    size_t start_count; /* the words of the server */
    const host_variable *variables;
    size_t variable_count;
    const char *url;    /* NULL: it starts the program */
    const char *bearer; /* the variable with the token for `url`; NULL: none */
    const char *image;
    const char *machine; /* for ssh */
    mcp_arena *arena;
} host_plan;

/* A host. */
typedef struct host_kind {
    const char *name;
    const char *summary;
    const char *file;        /* where its settings are */
    const char *servers;     /* the member with the servers */
    const char *placeholder; /* begins one of a variable that the host has; "}" or ">" ends it */
    const char *type;        /* the member `type` of a program; NULL: none */
    const char *url_type;    /* the same of a URL */
    bool takes_url;
    bool takes_socket; /* a URL of a socket file */
    bool takes_variables;
    /* Prints the other forms, after the file. NULL: there are none. */
    mcp_status (*print)(const host_plan *plan, const struct host_kind *kind, FILE *out,
                        mcp_error *err);
    /* The program and its words, where the host starts another one. NULL: as in the plan. */
    mcp_status (*wrap)(host_plan *plan, const struct host_kind *kind, mcp_error *err);
} host_kind;

/* All of them; ends with a row without a name. */
extern const host_kind host_kinds[];

/* Write the object with the settings of one server. @param name as its first member; NULL: without
 * it and without `inputs` */
void host_write_server(mcp_json_writer *json, const host_plan *plan, const host_kind *kind,
                       const char *name);

/* Append the array of what VS Code asks the user for; nothing where it asks for nothing. */
mcp_status host_inputs(mcp_buf *out, const host_plan *plan, const host_kind *kind);

/* Write the file of a host. */
void host_write_file(mcp_json_writer *json, const host_plan *plan, const host_kind *kind);

/* ---- forms of texts, encode.c ---------------------------------------------------------------- */

/* Append JSON with a line for each member of an object. @param json one value, compact */
mcp_status host_add_lines(mcp_buf *out, const char *json);

/* Append a word as a shell reads it. */
mcp_status host_add_shell(mcp_buf *out, const char *word);

/* Append a text as a part of a URL (RFC 3986, 2.1). */
mcp_status host_add_percent(mcp_buf *out, const char *text, size_t length);

#endif
