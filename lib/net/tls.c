/*
 * tls.c - OpenSSL without its sockets.
 *
 * OpenSSL reads and writes through a BIO of ours, whose reading end is the caller's bytes and whose
 * writing end is a buffer that is freed as soon as it has been sent. So a quiet connection holds no
 * bytes but those of an incomplete record: OpenSSL's own memory BIO would keep the largest buffer
 * it ever needed, and with SSL_MODE_RELEASE_BUFFERS OpenSSL itself lets go of its own.
 *
 * What OpenSSL says is wrong is in a queue per thread; it is emptied before each operation and read
 * after.
 */
#include "net/tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp/buf.h"

#define OUT_MAX ((size_t)1024 * 1024) /* to be sent; the caller seals no more before it is */

struct mcp__tls_context {
    SSL_CTX *ssl;
    BIO_METHOD *bio;
};

struct mcp__tls {
    SSL *ssl;
    const char *in; /* what the BIO reads; NULL between calls */
    size_t in_length;
    mcp_buf out;     /* what the BIO wrote */
    size_t sent;     /* of `out` */
    bool has_failed; /* after which OpenSSL wants nothing more to be tried, not even a goodbye */
};

static mcp_status tls_error(mcp_error *err, mcp_status status, const char *what)
{
    unsigned long code = ERR_get_error();
    const char *reason = ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code))
                                                : ERR_reason_error_string(code);

    ERR_clear_error();
    return mcp_error_set(err, status, "%s%s%s", what, reason ? ": " : "", reason ? reason : "");
}

/* ---- the BIO --------------------------------------------------------------------------------- */

static int bio_read(BIO *bio, char *room, size_t length, size_t *got)
{
    mcp__tls *tls = BIO_get_data(bio);
    size_t count = length < tls->in_length ? length : tls->in_length;

    BIO_clear_retry_flags(bio);
    if (count == 0) {
        BIO_set_retry_read(bio);
        return 0;
    }
    memcpy(room, tls->in, count);
    tls->in += count;
    tls->in_length -= count;
    *got = count;
    return 1;
}

static int bio_write(BIO *bio, const char *bytes, size_t length, size_t *written)
{
    mcp__tls *tls = BIO_get_data(bio);

    BIO_clear_retry_flags(bio);
    if (mcp_buf_append(&tls->out, bytes, length) != MCP_OK)
        return 0;
    *written = length;
    return 1;
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *bio_method_new(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "bytes");

    if (!method)
        return NULL;
    BIO_meth_set_read_ex(method, bio_read);
    BIO_meth_set_write_ex(method, bio_write);
    BIO_meth_set_ctrl(method, bio_control);
    return method;
}

/* ---- the context ----------------------------------------------------------------------------- */

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_length,
                           const unsigned char *in, unsigned in_length, void *data)
{
    static const unsigned char ours[] = "\x08http/1.1";
    unsigned char *chosen = NULL;

    (void)ssl;
    (void)data;
    if (SSL_select_next_proto(&chosen, out_length, ours, sizeof ours - 1, in, in_length) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL; /* RFC 7301 section 3.2 */
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static mcp_status load_pair(SSL_CTX *ssl, const char *certificate, const char *key, mcp_error *err)
{
    char what[200];

    ERR_clear_error();
    (void)snprintf(what, sizeof what, "the certificate %s cannot be used", certificate);
    if (SSL_CTX_use_certificate_chain_file(ssl, certificate) != 1)
        return tls_error(err, MCP_E_PARAMS, what);
    (void)snprintf(what, sizeof what, "the key %s cannot be used", key);
    if (SSL_CTX_use_PrivateKey_file(ssl, key, SSL_FILETYPE_PEM) != 1)
        return tls_error(err, MCP_E_PARAMS, what);
    (void)snprintf(what, sizeof what, "the key %s does not belong to the certificate", key);
    if (SSL_CTX_check_private_key(ssl) != 1)
        return tls_error(err, MCP_E_PARAMS, what);
    return MCP_OK;
}

/* A key that is encrypted is refused; by default OpenSSL would ask the terminal. */
static int no_passphrase(char *room, int size, int is_writing, void *data)
{
    (void)room;
    (void)size;
    (void)is_writing;
    (void)data;
    return -1;
}

static void configure(SSL_CTX *ssl)
{
    (void)SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION); /* a version that it knows */
    SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_alpn_select_cb(ssl, choose_protocol, NULL);
    SSL_CTX_set_default_passwd_cb(ssl, no_passphrase);
}

mcp_status mcp__tls_context_reload(mcp__tls_context *context, const char *certificate,
                                   const char *key, mcp_error *err)
{
    ERR_clear_error();
    SSL_CTX *ssl = SSL_CTX_new(TLS_server_method());
    if (!ssl)
        return tls_error(err, MCP_E_NOMEM, "TLS cannot be set up");
    configure(ssl);
    mcp_status st = load_pair(ssl, certificate, key, err);
    if (st != MCP_OK) {
        SSL_CTX_free(ssl);
        return st;
    }
    SSL_CTX_free(context->ssl); /* open connections hold theirs */
    context->ssl = ssl;
    return MCP_OK;
}

mcp_status mcp__tls_context_new(mcp__tls_context **out, const char *certificate, const char *key,
                                mcp_error *err)
{
    mcp__tls_context *context = mcp_alloc_zeroed(1, sizeof *context);

    if (!context)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for TLS");
    context->bio = bio_method_new();
    mcp_status st = context->bio ? mcp__tls_context_reload(context, certificate, key, err)
                                 : tls_error(err, MCP_E_NOMEM, "TLS cannot be set up");
    if (st != MCP_OK) {
        mcp__tls_context_free(context);
        return st;
    }
    *out = context;
    return MCP_OK;
}

void mcp__tls_context_free(mcp__tls_context *context)
{
    if (!context)
        return;
    SSL_CTX_free(context->ssl);
    BIO_meth_free(context->bio);
    free(context);
}

/* ---- a connection ---------------------------------------------------------------------------- */

mcp__tls *mcp__tls_new(mcp__tls_context *context)
{
    mcp__tls *tls = mcp_alloc_zeroed(1, sizeof *tls);

    if (!tls)
        return NULL;
    mcp_buf_init(&tls->out, OUT_MAX);
    tls->ssl = SSL_new(context->ssl);
    BIO *bio = BIO_new(context->bio);
    if (!tls->ssl || !bio) {
        BIO_free(bio);
        mcp__tls_free(tls);
        ERR_clear_error();
        return NULL;
    }
    BIO_set_data(bio, tls);
    BIO_set_init(bio, 1);
    SSL_set_bio(tls->ssl, bio, bio);
    SSL_set_accept_state(tls->ssl);
    return tls;
}

void mcp__tls_free(mcp__tls *tls)
{
    if (!tls)
        return;
    SSL_free(tls->ssl);
    mcp_buf_clear(&tls->out);
    free(tls);
}

mcp_status mcp__tls_open(mcp__tls *tls, char *plain, size_t *got, bool *is_ended, const void *bytes,
                         size_t length, mcp_error *err)
{
    size_t room = length + MCP__TLS_ROOM;
    size_t count = 0;

    *got = 0;
    *is_ended = false;
    if (tls->has_failed)
        return mcp_error_set(err, MCP_E_STOPPED, "TLS has failed before");
    ERR_clear_error();
    tls->in = bytes;
    tls->in_length = length;
    while (SSL_read_ex(tls->ssl, plain + *got, room - *got, &count) == 1)
        *got += count;
    int why = SSL_get_error(tls->ssl, 0);
    tls->in = NULL;
    tls->in_length = 0;
    if (why == SSL_ERROR_WANT_READ)
        return MCP_OK;
    if (why == SSL_ERROR_ZERO_RETURN) {
        *is_ended = true;
        return MCP_OK;
    }
    tls->has_failed = true;
    return tls_error(err, MCP_E_IO, "TLS failed");
}

mcp_status mcp__tls_seal(mcp__tls *tls, const void *plain, size_t length, mcp_error *err)
{
    const char *from = plain;

    if (tls->has_failed)
        return mcp_error_set(err, MCP_E_STOPPED, "TLS has failed before");
    ERR_clear_error();
    while (length > 0) {
        size_t count = 0;
        if (SSL_write_ex(tls->ssl, from, length, &count) != 1) {
            tls->has_failed = true;
            return tls_error(err, MCP_E_IO, "TLS failed");
        }
        from += count;
        length -= count;
    }
    return MCP_OK;
}

void mcp__tls_seal_end(mcp__tls *tls)
{
    if (tls->has_failed || !SSL_is_init_finished(tls->ssl))
        return;
    ERR_clear_error();
    (void)SSL_shutdown(tls->ssl); /* 0: said; whether the client says it too does not matter */
}

const char *mcp__tls_out(const mcp__tls *tls, size_t *length)
{
    *length = tls->out.length - tls->sent;
    return *length > 0 ? tls->out.data + tls->sent : NULL;
}

void mcp__tls_out_drop(mcp__tls *tls, size_t count)
{
    tls->sent += count;
    if (tls->sent == tls->out.length) {
        mcp_buf_clear(&tls->out);
        tls->sent = 0;
    }
}
