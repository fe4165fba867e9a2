/* server.h - the page and what belongs to it, served to browsers on this machine alone.
 *
 *   server.c          which requests are answered, and how
 *   server_access.h   access control: host, origin and token
 *   server_viewers.h  browsers connected by a WebSocket, each with a thread that sends to it
 *
 * It listens on 127.0.0.1, answers GET of a few paths below a random token, and reads no file. */
#ifndef TBI_VIEWER_SERVER_H
#define TBI_VIEWER_SERVER_H

#include "message.h"
#include "tabi/tabi.h"

/* The functions are called by threads of the server, several at once. */
typedef struct tbi_server_def {
  int port; /* 0: one that is free */
  /* What stands behind a path below the token ("" for the page, "scene/0"), held for the caller;
   * NULL: nothing. */
  tbi_message *(*get)(void *user, const char *path);
  /* A text from a viewer; what is returned is sent to it alone, NULL: nothing.  Without
   * this function there is no WebSocket. */
  tbi_message *(*receive)(void *user, const char *text, size_t size);
  void (*set_viewers)(void *user, int32_t viewers); /* how many there are now */
  void *user;
} tbi_server_def;

typedef struct tbi_server tbi_server;

tbi_server *tbi_server_create(const tbi_server_def *def, tabi_error *err);
void tbi_server_destroy(tbi_server *server); /* NULL is fine */
/* "http://127.0.0.1:PORT/TOKEN/" */
const char *tbi_server_url(const tbi_server *server);

/* A text and a picture to all viewers; either may be NULL.  Texts arrive in order, each before the
 * picture that came with it; of pictures a slow viewer gets the newest only.  Never waits for a
 * viewer.  Takes over what the caller holds. */
void tbi_server_send(tbi_server *server, tbi_message *text, tbi_message *picture);

#endif
