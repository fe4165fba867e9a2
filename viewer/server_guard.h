/* server_guard.h - who may ask: names of this machine at our port, and whoever knows the token.
 *
 * A page from elsewhere that a browser shows can send requests here, and a name of its own may be
 * made to point here; the lists of hosts and origins refuse both.  The token keeps out other users
 * of this machine. */
#ifndef TBI_VIEWER_SERVER_GUARD_H
#define TBI_VIEWER_SERVER_GUARD_H

#include "tabi/tabi.h"

enum { TBI_TOKEN_SIZE = 32 };

typedef struct tbi_guard {
  char host[2][32];               /* "127.0.0.1:PORT", "localhost:PORT" */
  char origin[2][40];             /* with "http://" before */
  char token[TBI_TOKEN_SIZE + 1]; /* hexadecimal */
} tbi_guard;

/* A token from the system's random numbers. */
tabi_status tbi_guard_create(tbi_guard *guard, tabi_error *err);
/* When the port is known. */
void tbi_guard_set_port(tbi_guard *guard, int port);

/* Whether a header, NULL if there is none, is one of the list. */
bool tbi_guard_knows_host(const tbi_guard *guard, const char *host);
bool tbi_guard_knows_origin(const tbi_guard *guard, const char *origin);
/* What follows "/TOKEN/" in a path; NULL if it does not begin so.  Takes as long for any token. */
const char *tbi_guard_enter(const tbi_guard *guard, const char *path);

#endif
