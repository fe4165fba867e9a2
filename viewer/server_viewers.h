/* server_viewers.h - the browsers that are connected by a WebSocket. */
#ifndef TBI_VIEWER_SERVER_VIEWERS_H
#define TBI_VIEWER_SERVER_VIEWERS_H

#include "server.h"

#include <civetweb.h>

enum { TBI_MAX_VIEWERS = 4, TBI_MAX_MESSAGE = 4096 };

typedef struct tbi_viewers tbi_viewers;

/* def must outlive it. */
tbi_viewers *tbi_viewers_create(const tbi_server_def *def);
/* After the server has stopped. */
void tbi_viewers_destroy(tbi_viewers *viewers); /* NULL is fine */

bool tbi_viewers_have_room(tbi_viewers *viewers);
/* Accepts them at a path of the server. */
void tbi_viewers_accept(tbi_viewers *viewers, struct mg_context *context, const char *path);
/* As tbi_server_send. */
void tbi_viewers_send(tbi_viewers *viewers, tbi_message *text, tbi_message *picture);
/* Closes all connections. */
void tbi_viewers_close(tbi_viewers *viewers);

#endif
