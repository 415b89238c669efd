/**
 * checkpoint_file.h - appends the checkpoints of all workspaces to a file outside of the database.
 *
 * Who keeps the file where the database's owner cannot change it can prove that the evidence was
 * cut or rewritten (`evidence verify --since`). The file has each checkpoint once, those of a
 * workspace in their order (evidence/notes.h), also after a kill; when it is moved away, a new one
 * begins with the next checkpoint.
 */
#ifndef PORTARIUM_SERVICE_TRAIL_CHECKPOINT_FILE_H
#define PORTARIUM_SERVICE_TRAIL_CHECKPOINT_FILE_H

#include "keys/sign.h"
#include "store/committer.h"

/** One thread at a time. */
typedef struct portarium_checkpoint_file portarium_checkpoint_file;

/**
 * Open the file, made if there is none (0600), and read what it has.
 *
 * @param out  yours, free it with portarium_checkpoint_file_free
 * @param path borrowed
 * @param pair whose signatures count
 * @return MCP_OK; MCP_E_IO, MCP_E_NOMEM: the message names the file
 */
mcp_status portarium_checkpoint_file_open(portarium_checkpoint_file **out, const char *path,
                                          const keys_pair *pair, mcp_error *err);

/** NULL is fine. */
void portarium_checkpoint_file_free(portarium_checkpoint_file *self);

/**
 * Append the checkpoints that the database has and the file has not. What was not written comes
 * with the next call.
 *
 * @return MCP_OK; MCP_E_IO: the file cannot be written, the message names it; MCP_E_BUSY: another
 *         process is writing to it; MCP_E_NOMEM; statuses of db.h
 */
mcp_status portarium_checkpoint_file_append(portarium_checkpoint_file *self,
                                            portarium_committer *committer, mcp_error *err);

#endif
