/**
 * since.h - the evidence of a workspace against an older checkpoint of it.
 */
#ifndef PORTARIUM_SHELL_SINCE_H
#define PORTARIUM_SHELL_SINCE_H

#include "evidence/note.h"
#include "shell/session.h"

/**
 * Prove that nothing of what a checkpoint covers was cut or rewritten: its tree is the beginning
 * of the one of today.
 *
 * @param path  of the checkpoint, as GET /evidence/checkpoint gave it
 * @param key   of the server that signed it
 * @param count how many entries the chain of today has
 * @param size  filled with how many the checkpoint covers
 * @return MCP_OK; MCP_E_SCHEMA: the evidence does not agree with it; MCP_E_DENIED: its signature is
 *         wrong; MCP_E_NOT_FOUND, MCP_E_PARSE: there is no such checkpoint
 */
mcp_status portarium_verify_since(uint64_t *size, portarium_session *session, const char *path,
                                  const portarium_key *key, uint64_t count, mcp_error *err);

#endif
