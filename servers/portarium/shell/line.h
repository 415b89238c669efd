/**
 * line.h - the commands of the program.
 */
#ifndef PORTARIUM_SHELL_LINE_H
#define PORTARIUM_SHELL_LINE_H

#include "cli/cli.h"

/* clang-format off */
#define PORTARIUM_DATABASE_OPTION                                                                  \
    { .name = "db", .type = CLI_STRING, .argument = "URL", .env = "PORTARIUM_DATABASE_URL",        \
      .standard = "sqlite:portarium.db",                                                           \
      .help = "the database: sqlite:PATH or postgres://..." }
#define PORTARIUM_JSON_OPTION                                                                      \
    { .name = "json", .type = CLI_FLAG, .help = "print the result, or the error, as JSON" }
#define PORTARIUM_WORKSPACE_OPTION                                                                 \
    { .name = "workspace", .type = CLI_STRING, .argument = "ID", .env = "PORTARIUM_WORKSPACE_ID",  \
      .standard = "ws-default", .help = "the workspace" }
#define PORTARIUM_ONLY_WORKSPACE_OPTION                                                            \
    { .name = "workspace", .type = CLI_STRING, .argument = "ID", .env = "PORTARIUM_WORKSPACE_ID",  \
      .letter = 'w', .help = "the workspace (default: the only one)" }
#define PORTARIUM_EVIDENCE_KEY_OPTION                                                              \
    { .name = "evidence-key", .type = CLI_STRING, .argument = "FILE",                              \
      .env = "PORTARIUM_EVIDENCE_KEY",                                                             \
      .help = "sign checkpoints of the evidence with the key in FILE, made if there is none" }
/* clang-format on */

/** portarium serve */
int portarium_line_serve(const cli_line *line, void *data);

/** portarium mcp serve */
int portarium_line_mcp(const cli_line *line, void *data);

/** portarium gate */
int portarium_line_gate(const cli_line *line, void *data);

/** portarium version and doctor, about.c */
int portarium_line_version(const cli_line *line, void *data);
int portarium_line_doctor(const cli_line *line, void *data);

/** portarium host, hosted.c */
int portarium_line_host(const cli_line *line, void *data);

/** portarium admin apply FILE */
int portarium_line_apply(const cli_line *line, void *data);

/** portarium demo */
int portarium_line_demo(const cli_line *line, void *data);

/** portarium tokens create, list and revoke */
int portarium_line_token_create(const cli_line *line, void *data);
int portarium_line_token_list(const cli_line *line, void *data);
int portarium_line_token_revoke(const cli_line *line, void *data);

/** portarium evidence verify, export and key */
int portarium_line_evidence_verify(const cli_line *line, void *data);
int portarium_line_evidence_export(const cli_line *line, void *data);
int portarium_line_evidence_key(const cli_line *line, void *data);

#endif
