/*
 * key_server.c - a thread that accepts, reads a head, and answers what it was told to.
 *
 * One connection at a time. The lock guards what is answered, the count and the flags.
 */
#include "key_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

struct key_server {
    int fd;
    char url[64];
    pthread_t thread;
    SSL_CTX *tls; /* NULL: plain */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char *head;
    char *body;
    int requests;
    bool held;
    bool ended;
};

/* ---- TLS ------------------------------------------------------------------------------------- */

static X509 *certificate_of(EVP_PKEY *key)
{
    X509 *made = X509_new();
    X509_NAME *name = X509_get_subject_name(made);
    X509_EXTENSION *address = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "IP:127.0.0.1");

    assert_non_null(address);
    X509_set_version(made, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
    X509_gmtime_adj(X509_getm_notBefore(made), -60);
    X509_gmtime_adj(X509_getm_notAfter(made), 3600);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const uint8_t *)"keys", -1, -1, 0);
    X509_set_issuer_name(made, name);
    X509_set_pubkey(made, key);
    X509_add_ext(made, address, -1);
    X509_EXTENSION_free(address);
    assert_true(X509_sign(made, key, EVP_sha256()) > 0);
    return made;
}

static SSL_CTX *tls_of(const char *path, EVP_PKEY *key)
{
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    X509 *certificate = certificate_of(key);
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(PEM_write_X509(file, certificate), 1);
    fclose(file);
    assert_int_equal(SSL_CTX_use_certificate(tls, certificate), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(tls, key), 1);
    X509_free(certificate);
    return tls;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static int receive(SSL *ssl, int fd, char *out, int size)
{
    return ssl ? SSL_read(ssl, out, size) : (int)recv(fd, out, (size_t)size, 0);
}

/* A client that hangs up early does not need the rest. */
static void deliver(SSL *ssl, int fd, const char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        int sent = ssl ? SSL_write(ssl, text, (int)left) : (int)send(fd, text, left, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        text += sent;
        left -= (size_t)sent;
    }
}

static bool read_head(SSL *ssl, int fd)
{
    char head[4096] = "";
    size_t length = 0;

    while (!strstr(head, "\r\n\r\n")) {
        int got = receive(ssl, fd, head + length, (int)(sizeof head - 1 - length));
        if (got <= 0)
            return false;
        length += (size_t)got;
        head[length] = '\0';
    }
    return true;
}

static void serve(key_server *self, SSL *ssl, int fd)
{
    if (!read_head(ssl, fd))
        return;
    pthread_mutex_lock(&self->lock);
    self->requests++;
    pthread_cond_broadcast(&self->changed);
    while (self->held && !self->ended)
        pthread_cond_wait(&self->changed, &self->lock);
    char *head = strdup(self->head);
    char *body = strdup(self->body);
    pthread_mutex_unlock(&self->lock);
    deliver(ssl, fd, "HTTP/1.1 ");
    deliver(ssl, fd, head);
    deliver(ssl, fd, "\r\nConnection: close\r\n\r\n");
    deliver(ssl, fd, body);
    free(head);
    free(body);
}

static void serve_one(key_server *self, int fd)
{
    if (!self->tls) {
        serve(self, NULL, fd);
        return;
    }
    SSL *ssl = SSL_new(self->tls);
    SSL_set_fd(ssl, fd);
    if (SSL_accept(ssl) == 1) {
        serve(self, ssl, fd);
        SSL_shutdown(ssl);
    }
    SSL_free(ssl);
}

static void *run(void *data)
{
    key_server *self = data;

    for (;;) {
        int fd = accept(self->fd, NULL, NULL);
        if (fd < 0)
            return NULL;
        serve_one(self, fd);
        close(fd);
    }
}

/* ---- for tests ------------------------------------------------------------------------------- */

static int listen_somewhere(int *port)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

key_server *key_server_start(const char *certificate, EVP_PKEY *key)
{
    key_server *self = calloc(1, sizeof *self);
    int port = 0;

    assert_non_null(self);
    signal(SIGPIPE, SIG_IGN); /* OpenSSL writes without MSG_NOSIGNAL */
    self->fd = listen_somewhere(&port);
    if (certificate)
        self->tls = tls_of(certificate, key);
    snprintf(self->url, sizeof self->url, "http%s://127.0.0.1:%d/keys", self->tls ? "s" : "", port);
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    self->head = strdup("200 OK");
    self->body = strdup("{\"keys\":[]}");
    assert_int_equal(pthread_create(&self->thread, NULL, run, self), 0);
    return self;
}

void key_server_end(key_server *self)
{
    pthread_mutex_lock(&self->lock);
    self->ended = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    shutdown(self->fd, SHUT_RDWR); /* wakes accept */
    pthread_join(self->thread, NULL);
    close(self->fd);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    SSL_CTX_free(self->tls);
    free(self->head);
    free(self->body);
    free(self);
}

const char *key_server_url(const key_server *self)
{
    return self->url;
}

void key_server_answer(key_server *self, const char *head, const char *body)
{
    pthread_mutex_lock(&self->lock);
    free(self->head);
    free(self->body);
    self->head = strdup(head);
    self->body = strdup(body);
    pthread_mutex_unlock(&self->lock);
}

static void set_held(key_server *self, bool held)
{
    pthread_mutex_lock(&self->lock);
    self->held = held;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

void key_server_hold(key_server *self)
{
    set_held(self, true);
}

void key_server_let_go(key_server *self)
{
    set_held(self, false);
}

int key_server_requests(key_server *self)
{
    pthread_mutex_lock(&self->lock);
    int requests = self->requests;
    pthread_mutex_unlock(&self->lock);
    return requests;
}

void key_server_wait(key_server *self, int requests)
{
    pthread_mutex_lock(&self->lock);
    while (self->requests < requests)
        pthread_cond_wait(&self->changed, &self->lock);
    pthread_mutex_unlock(&self->lock);
}
