/* server.c - which requests are answered, and how.
 *
 * Every request passes the same checks, the cheapest first: method, host, origin, token, path.
 * civetweb has no folder to serve, so what we do not answer does not exist. */
#include "server.h"

#include "server_access.h"
#include "server_viewers.h"
#include "viewer_error.h"

#include <civetweb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct tbi_server {
  tbi_server_def def;
  tbi_access access;
  tbi_viewers *viewers;
  struct mg_context *context;
  atomic_bool ready; /* access knows the port */
  char url[80];
};

/* -- answers */

static int reply(struct mg_connection *connection, int status, const char *reason, const char *type,
                 const tbi_message *body) {
  char header[800];
  int length = snprintf(header, sizeof header,
                        "HTTP/1.1 %d %s\r\n"
                        "Content-Type: %s\r\n"
                        "Content-Length: %zu\r\n"
                        "Connection: close\r\n"
                        "Cache-Control: no-store\r\n"
                        "Content-Security-Policy: frame-ancestors 'none'\r\n"
                        "Cross-Origin-Opener-Policy: same-origin\r\n"
                        "Cross-Origin-Resource-Policy: same-origin\r\n"
                        "Referrer-Policy: no-referrer\r\n"
                        "X-Content-Type-Options: nosniff\r\n"
                        "%s\r\n",
                        status, reason, type, body->size, status == 405 ? "Allow: GET\r\n" : "");
  if (length < 0 || (size_t)length >= sizeof header) return status;
  if (mg_write(connection, header, (size_t)length) == length)
    (void)mg_write(connection, body->bytes, body->size);
  return status;
}

static int refuse(struct mg_connection *connection, int status, const char *reason) {
  tbi_message *body = tbi_message_of(reason, strlen(reason));
  if (!body) return status;
  (void)reply(connection, status, reason, "text/plain; charset=utf-8", body);
  tbi_message_drop(body);
  return status;
}

static const char *type_of(const char *path) {
  if (path[0] == '\0') return "text/html; charset=utf-8";
  return strncmp(path, "scene/", 6) == 0 ? "application/json" : "application/octet-stream";
}

static int serve(struct mg_connection *connection, const tbi_server *server, const char *path) {
  tbi_message *body = server->def.get(server->def.user, path);
  if (!body) return refuse(connection, 404, "Not Found");
  (void)reply(connection, 200, "OK", type_of(path), body);
  tbi_message_drop(body);
  return 200;
}

/* -- access */

/* A header that is there once; NULL if it is not there.  `twice` is set if it is there more often,
 * for then everybody may understand something else. */
static const char *header_of(const struct mg_request_info *request, const char *name, bool *twice) {
  const char *value = NULL;
  for (int i = 0; i < request->num_headers; ++i) {
    if (strcasecmp(request->http_headers[i].name, name) != 0) continue;
    if (value) *twice = true;
    value = request->http_headers[i].value;
  }
  return value;
}

/* 0: to civetweb, for the handshake. */
static int accept_viewer(struct mg_connection *connection, tbi_server *server, const char *origin) {
  const struct mg_request_info *request = mg_get_request_info(connection);
  bool twice = false;
  const char *upgrade = header_of(request, "Upgrade", &twice);
  if (!server->def.receive) return refuse(connection, 404, "Not Found");
  if (!tbi_access_allows_origin(&server->access, origin))
    return refuse(connection, 403, "Forbidden: unknown origin");
  if (!upgrade || twice || strcasecmp(upgrade, "websocket") != 0)
    return refuse(connection, 400, "Bad Request: this is a WebSocket");
  if (!tbi_viewers_have_room(server->viewers))
    return refuse(connection, 503, "Service Unavailable: too many viewers");
  return 0;
}

static int on_request(struct mg_connection *connection) {
  const struct mg_request_info *request = mg_get_request_info(connection);
  tbi_server *server = request->user_data;
  if (!atomic_load(&server->ready)) return refuse(connection, 503, "Service Unavailable");
  bool twice = false;
  const char *host = header_of(request, "Host", &twice);
  const char *origin = header_of(request, "Origin", &twice);
  if (strcmp(request->request_method, "GET") != 0)
    return refuse(connection, 405, "Method Not Allowed");
  /* civetweb leaves out headers above its limit, and among them may be what we look for */
  if (request->num_headers >= MG_MAX_HEADERS || twice || request->content_length > 0)
    return refuse(connection, 400, "Bad Request");
  if (!tbi_access_allows_host(&server->access, host))
    return refuse(connection, 403, "Forbidden: unknown host");
  if (origin && !tbi_access_allows_origin(&server->access, origin))
    return refuse(connection, 403, "Forbidden: unknown origin");
  /* as it was sent: neither decoded nor cleaned */
  const char *uri = request->local_uri_raw;
  const char *path = uri && !request->query_string ? tbi_access_path(&server->access, uri) : NULL;
  if (!path) return refuse(connection, 403, "Forbidden: unknown address");
  if (strcmp(path, "ws") == 0) return accept_viewer(connection, server, origin);
  return serve(connection, server, path);
}

/* Malformed requests get a short answer instead of civetweb's page. */
static int on_http_error(struct mg_connection *connection, int status, const char *message) {
  (void)message;
  (void)refuse(connection, status, "Bad Request");
  return 0;
}

/* civetweb would write to stderr. */
static int on_message(const struct mg_connection *connection, const char *message) {
  (void)connection;
  (void)message;
  return 1;
}

/* -- life */

static tabi_status fail(tabi_error *err, tabi_status status, const char *format, int number) {
  *err = (tabi_error){.status = status};
  (void)snprintf(err->message, sizeof err->message, format, number);
  return status;
}

static tabi_status listen_at(tbi_server *server, int port, tabi_error *err) {
  char address[32];
  (void)snprintf(address, sizeof address, "127.0.0.1:%d", port);
  /* Whoever connects and says nothing, or not all of it, holds a thread until the timeout, before
   * we can ask for a token.  Idle threads cost little, so there are enough that some are always
   * free but for a flood, which holds up the page for a few timeouts. */
  const char *options[] = {"listening_ports",
                           address,
                           "num_threads",
                           "256",
                           "connection_queue",
                           "256",
                           "listen_backlog",
                           "512",
                           "enable_keep_alive",
                           "no",
                           "enable_directory_listing",
                           "no",
                           "decode_url",
                           "no",
                           "max_request_size",
                           "8192",
                           "request_timeout_ms",
                           "2000",
                           "websocket_timeout_ms",
                           "10000",
                           "enable_websocket_ping_pong",
                           "yes",
                           "tcp_nodelay",
                           "1",
                           "access_control_allow_origin",
                           "",
                           "access_control_allow_methods",
                           "",
                           "access_control_allow_headers",
                           "",
                           NULL};
  const struct mg_callbacks callbacks = {
      .begin_request = on_request, .http_error = on_http_error, .log_message = on_message};
  server->context = mg_start(&callbacks, server, options);
  if (!server->context && port > 0) {
    return fail(err, TABI_ERR_ARGUMENT,
                "cannot listen on port %d of 127.0.0.1; leave out --port for one that is free",
                port);
  }
  if (!server->context) return fail(err, TABI_ERR_FILE, "cannot listen on 127.0.0.1", 0);
  return TABI_OK;
}

static tabi_status open_server(tbi_server *server, tabi_error *err) {
  tabi_status status = tbi_access_create(&server->access, err);
  if (status != TABI_OK) return status;
  server->viewers = tbi_viewers_create(&server->def);
  if (!server->viewers) return tbi_memory_error(err);
  status = listen_at(server, server->def.port, err);
  if (status != TABI_OK) return status;
  struct mg_server_port port;
  if (mg_get_server_ports(server->context, 1, &port) != 1)
    return fail(err, TABI_ERR_FILE, "cannot find out the port", 0);
  tbi_access_set_port(&server->access, port.port);
  (void)snprintf(server->url, sizeof server->url, "%s/%s/", server->access.origin[0],
                 server->access.token);
  char path[TBI_TOKEN_SIZE + 8];
  (void)snprintf(path, sizeof path, "/%s/ws", server->access.token);
  if (server->def.receive) tbi_viewers_accept(server->viewers, server->context, path);
  atomic_store(&server->ready, true);
  return TABI_OK;
}

tbi_server *tbi_server_create(const tbi_server_def *def, tabi_error *err) {
  tbi_server *server = calloc(1, sizeof *server);
  if (!server) {
    (void)tbi_memory_error(err);
    return NULL;
  }
  server->def = *def;
  if (open_server(server, err) == TABI_OK) return server;
  tbi_server_destroy(server);
  return NULL;
}

void tbi_server_destroy(tbi_server *server) {
  if (!server) return;
  if (server->viewers) tbi_viewers_close(server->viewers);
  if (server->context) mg_stop(server->context);
  tbi_viewers_destroy(server->viewers);
  free(server);
}

const char *tbi_server_url(const tbi_server *server) { return server->url; }

void tbi_server_send(tbi_server *server, tbi_message *text, tbi_message *picture) {
  tbi_viewers_send(server->viewers, text, picture);
}
