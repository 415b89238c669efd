/*
 * evidence.c - portarium evidence: verify, export, key.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/bundle.h"
#include "evidence/chain.h"
#include "serve/serve.h"
#include "shell/line.h"
#include "shell/session.h"
#include "shell/since.h"

enum { PEM_MAX = 4096, BLOCK_SIZE = 32768 };

static const char signer[] = "portarium"; /* the name of the key that signs */

/* ---- files ----------------------------------------------------------------------------------- */

static mcp_status open_file(FILE **out, const char *path, mcp_error *err)
{
    *out = fopen(path, "rbe");
    return *out ? MCP_OK : mcp_error_set(err, MCP_E_NOT_FOUND, "%s cannot be opened", path);
}

/* A file that is read line by line. */
typedef struct lines {
    FILE *file;
    size_t at, have; /* of `block` */
    char block[BLOCK_SIZE];
} lines;

/* Whether there is more to take. */
static bool fill_block(lines *self)
{
    if (self->at == self->have) {
        self->at = 0;
        self->have = fread(self->block, 1, sizeof self->block, self->file);
    }
    return self->have > 0;
}

/* Read a line with its newline. @return MCP_OK, with nothing at the end of the file */
static mcp_status read_line(mcp_buf *out, lines *in, mcp_error *err)
{
    const char *end = NULL;
    mcp_status st = MCP_OK;
    mcp_buf_reset(out);
    while (st == MCP_OK && !end && fill_block(in)) {
        const char *from = in->block + in->at;
        end = memchr(from, '\n', in->have - in->at);
        size_t length = end ? (size_t)(end + 1 - from) : in->have - in->at;
        st = mcp_buf_append(out, from, length);
        in->at += length;
    }
    if (st == MCP_OK && ferror(in->file))
        return mcp_error_set(err, MCP_E_IO, "the file cannot be read");
    return st == MCP_OK ? st : mcp_error_set(err, st, "a line is too long");
}

static mcp_status read_key(portarium_key *out, const char *path, mcp_error *err)
{
    char pem[PEM_MAX];
    FILE *file = NULL;
    *out = (portarium_key){ .name = signer };
    if (!path)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "--key is required: the public key of the server that signed");
    mcp_status st = open_file(&file, path, err);
    if (st != MCP_OK)
        return st;
    size_t length = fread(pem, 1, sizeof pem, file);
    fclose(file);
    return keys_public_read(out->bytes, pem, length, err);
}

/* ---- verify ---------------------------------------------------------------------------------- */

/* What was verified, for --json. What is NULL or 0 is left out, of a bundle nothing is. */
struct shown {
    uint64_t entries;
    int64_t payloads, size, since;
    const char *origin, *head;
};

static mcp_status print_verdict(const cli_line *line, const struct shown *what, mcp_error *err)
{
    mcp_buf text;
    mcp_json_writer json;
    mcp_buf_init(&text, PEM_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_member_bool(&json, "ok", true);
    mcp_write_member_int(&json, "entries", (int64_t)what->entries);
    if (what->origin) {
        mcp_write_member_string(&json, "origin", what->origin);
        mcp_write_member_int(&json, "size", what->size);
        mcp_write_member_int(&json, "payloads", what->payloads);
    }
    if (what->head)
        mcp_write_member_string(&json, "head", what->head);
    if (what->since > 0)
        mcp_write_member_int(&json, "since", what->since);
    mcp_write_end(&json);
    mcp_status st = mcp_json_writer_status(&json);
    if (st == MCP_OK)
        fprintf(cli_out(line), "%.*s\n", (int)text.length, text.data);
    else
        mcp_error_set(err, st, "the verdict cannot be written: %s", mcp_status_words(st));
    mcp_buf_clear(&text);
    return st;
}

static mcp_status verify_bundle(lines *in, mcp_buf *text, const cli_line *line, mcp_error *err)
{
    portarium_key key;
    portarium_checker *checker = NULL;
    portarium_verdict verdict = { .reason = NULL };
    mcp_status st = read_key(&key, cli_string(line, "key"), err);
    if (st == MCP_OK)
        st = portarium_checker_new(&checker, &key, err);
    while (st == MCP_OK && text->length > 0) {
        st = portarium_checker_line(checker, text->data, text->length, err);
        if (st == MCP_OK)
            st = read_line(text, in, err);
    }
    if (checker && (st == MCP_OK || st == MCP_E_SCHEMA))
        st = portarium_checker_end(checker, &verdict, err);
    portarium_checker_free(checker);
    if (verdict.reason)
        return mcp_error_set(err, MCP_E_SCHEMA, "line %llu: %s", (unsigned long long)verdict.line,
                             verdict.reason);
    if (st == MCP_OK && cli_flag(line, "json"))
        return print_verdict(line,
                             &(struct shown){ .entries = verdict.entries,
                                              .payloads = (int64_t)verdict.payloads,
                                              .size = (int64_t)verdict.checkpoint.size,
                                              .origin = verdict.checkpoint.origin },
                             err);
    if (st == MCP_OK)
        fprintf(cli_out(line), "genuine: %llu entries, %llu payloads, of %s at size %llu\n",
                (unsigned long long)verdict.entries, (unsigned long long)verdict.payloads,
                verdict.checkpoint.origin, (unsigned long long)verdict.checkpoint.size);
    return st;
}

static mcp_status verify_chain(lines *in, mcp_buf *text, const cli_line *line, mcp_error *err)
{
    portarium_chain *chain = NULL;
    portarium_flaw flaw;
    mcp_status st = portarium_chain_new(&chain, NULL, err);
    while (st == MCP_OK && text->length > 0) {
        st = portarium_chain_add(chain, &flaw, text->data, text->length, err);
        if (st == MCP_OK)
            st = read_line(text, in, err);
    }
    if (st == MCP_OK && cli_flag(line, "json"))
        st = print_verdict(line,
                           &(struct shown){ .entries = portarium_chain_size(chain),
                                            .head = portarium_chain_head(chain) },
                           err);
    else if (st == MCP_OK)
        fprintf(cli_out(line), "unbroken: %llu entries up to %s\n",
                (unsigned long long)portarium_chain_size(chain), portarium_chain_head(chain));
    portarium_chain_free(chain);
    return st;
}

/* A bundle, or entries as JSON lines. */
static mcp_status verify_file(const char *path, const cli_line *line, mcp_error *err)
{
    static const char first[] = "{\"bundle\":";
    lines in = { .file = NULL };
    mcp_buf text;
    mcp_status st = open_file(&in.file, path, err);
    if (st != MCP_OK)
        return st;
    mcp_buf_init(&text, PORTARIUM_LINE_MAX);
    st = read_line(&text, &in, err);
    if (st == MCP_OK && text.length == 0)
        st = mcp_error_set(err, MCP_E_PARSE, "%s is empty", path);
    bool is_bundle = st == MCP_OK && strncmp(text.data, first, sizeof first - 1) == 0;
    if (st == MCP_OK)
        st = is_bundle ? verify_bundle(&in, &text, line, err) : verify_chain(&in, &text, line, err);
    mcp_buf_clear(&text);
    fclose(in.file);
    return st;
}

/* Walk the chain of a database, some entries at a time. */
static mcp_status verify_database(uint64_t *count, portarium_session *session, mcp_error *err)
{
    const char *workspace = session->workspace;
    int64_t from = 1, to = 0;
    mcp_status st = MCP_OK;
    do {
        const mcp_json *arguments = NULL, *found = NULL;
        bool is_ok = false;
        const char *text = mcp_arena_printf(session->arena, "{\"from\":\"%lld\"}", (long long)from);
        st = text ? mcp_json_read(&arguments, session->arena, text, strlen(text), err)
                  : mcp_error_set(err, MCP_E_NOMEM, "no memory for the command");
        if (st == MCP_OK)
            st = portarium_session_run(session, "verifyEvidence", workspace, arguments, NULL, err);
        if (st == MCP_OK)
            st = mcp_json_read(&found, session->arena, session->reply.text, session->reply.length,
                               err);
        if (st != MCP_OK)
            return st;
        mcp_json_int(mcp_json_get(found, "to"), &to);
        mcp_json_bool(mcp_json_get(found, "ok"), &is_ok);
        if (!is_ok)
            return mcp_error_set(err, MCP_E_SCHEMA, "%.*s", (int)session->reply.length,
                                 session->reply.text);
        if (to < from)
            break;
        from = to + 1;
    } while (st == MCP_OK);
    *count = (uint64_t)from - 1;
    if (!cli_flag(session->line, "json"))
        fprintf(cli_out(session->line), "unbroken: %llu entries\n", (unsigned long long)*count);
    return MCP_OK;
}

/* The chain, and the older checkpoint of --since. */
static mcp_status verify_workspace(portarium_session *session, mcp_error *err)
{
    portarium_key key;
    uint64_t count = 0, size = 0;
    const char *since = cli_string(session->line, "since");
    mcp_status st = since ? read_key(&key, cli_string(session->line, "key"), err) : MCP_OK;
    if (st == MCP_OK)
        st = verify_database(&count, session, err);
    if (st == MCP_OK && since)
        st = portarium_verify_since(&size, session, since, &key, count, err);
    if (st == MCP_OK && cli_flag(session->line, "json"))
        return print_verdict(session->line,
                             &(struct shown){ .entries = count, .since = (int64_t)size }, err);
    if (st == MCP_OK && since)
        fprintf(cli_out(session->line), "consistent: with the checkpoint of %llu entries\n",
                (unsigned long long)size);
    return st;
}

int portarium_line_evidence_verify(const cli_line *line, void *data)
{
    portarium_session session;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = MCP_OK;
    (void)data;
    if (cli_argument_count(line) > 0 && cli_string(line, "since")) {
        st = mcp_error_set(&err, MCP_E_PARAMS,
                           "--since is for the evidence of a workspace, not for a file");
        return serve_fail(line, st, &err);
    }
    if (cli_argument_count(line) > 0) {
        st = verify_file(cli_argument(line, 0), line, &err);
        return st == MCP_OK ? SERVE_EXIT_DONE : serve_fail(line, st, &err);
    }
    st = portarium_session_open(&session, line, &err);
    if (st != MCP_OK)
        return serve_fail(line, st, &err);
    st = verify_workspace(&session, &err);
    int status = st == MCP_OK ? SERVE_EXIT_DONE : serve_fail(line, st, &err);
    portarium_session_close(&session);
    return status;
}

/* ---- export and key -------------------------------------------------------------------------- */

static mcp_status export_run(portarium_session *session, mcp_error *err)
{
    const mcp_json *arguments = NULL;
    const char *text = "{}", *run = cli_string(session->line, "run");
    mcp_buf buf;
    mcp_json_writer json;
    mcp_buf_init(&buf, 4096);
    mcp_json_writer_init(&json, &buf);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "runId", run);
    mcp_write_end(&json);
    mcp_status st = mcp_json_writer_status(&json);
    text = st == MCP_OK ? buf.data : text;
    if (st == MCP_OK)
        st = mcp_json_read(&arguments, session->arena, text, strlen(text), err);
    mcp_buf_clear(&buf);
    if (st == MCP_OK)
        st = portarium_session_run(session, "getRunBundle", session->workspace, arguments, NULL,
                                   err);
    if (st == MCP_OK)
        fwrite(session->reply.text, 1, session->reply.length, cli_out(session->line));
    return st;
}

int portarium_line_evidence_export(const cli_line *line, void *data)
{
    portarium_session session;
    mcp_error err = MCP_ERROR_INIT;
    (void)data;
    mcp_status st = portarium_session_open(&session, line, &err);
    if (st != MCP_OK)
        return serve_fail(line, st, &err);
    st = export_run(&session, &err);
    int status = st == MCP_OK ? SERVE_EXIT_DONE : serve_fail(line, st, &err);
    portarium_session_close(&session);
    return status;
}

int portarium_line_evidence_key(const cli_line *line, void *data)
{
    mcp_error err = MCP_ERROR_INIT;
    keys_pair *pair = NULL;
    uint8_t key[KEYS_PUBLIC_SIZE];
    mcp_buf pem;
    (void)data;
    mcp_buf_init(&pem, PEM_MAX);
    const char *path = cli_string(line, "evidence-key");
    mcp_status st = path ? keys_pair_read(&pair, path, &err)
                         : mcp_error_set(&err, MCP_E_PARAMS, "--evidence-key is required");
    if (st == MCP_OK) {
        keys_pair_public(pair, key);
        st = keys_public_pem(&pem, key, &err);
    }
    if (st == MCP_OK)
        fwrite(pem.data, 1, pem.length, cli_out(line));
    keys_pair_free(pair);
    mcp_buf_clear(&pem);
    return st == MCP_OK ? SERVE_EXIT_DONE : serve_fail(line, st, &err);
}
