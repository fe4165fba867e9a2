/* server_access.h - access control: requests must name this machine and our port, and know the
 * token.
 *
 * A page from elsewhere that a browser shows can send requests here, and a name of its own may be
 * made to point here; the lists of hosts and origins refuse both.  The token keeps out other users
 * of this machine. */
#ifndef TBI_VIEWER_SERVER_ACCESS_H
#define TBI_VIEWER_SERVER_ACCESS_H

#include "tabi/tabi.h"

enum { TBI_TOKEN_SIZE = 32 };

typedef struct tbi_access {
  char host[2][32];               /* "127.0.0.1:PORT", "localhost:PORT" */
  char origin[2][40];             /* with "http://" before */
  char token[TBI_TOKEN_SIZE + 1]; /* hexadecimal */
} tbi_access;

/* A token from the system's random numbers. */
tabi_status tbi_access_create(tbi_access *access, tabi_error *err);
/* When the port is known. */
void tbi_access_set_port(tbi_access *access, int port);

/* Whether a header, NULL if there is none, is one of the list. */
bool tbi_access_allows_host(const tbi_access *access, const char *host);
bool tbi_access_allows_origin(const tbi_access *access, const char *origin);
/* What follows "/TOKEN/" in a path; NULL if it does not begin so.  Takes as long for any token. */
const char *tbi_access_path(const tbi_access *access, const char *path);

#endif
