/* server_access.c - hosts and origins are compared as they stand, letter by letter; the token in
 * constant time. */
#include "server_access.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

tabi_status tbi_access_create(tbi_access *access, tabi_error *err) {
  unsigned char random[TBI_TOKEN_SIZE / 2];
  *access = (tbi_access){0};
  if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
    *err = (tabi_error){.status = TABI_ERR_FILE};
    (void)snprintf(err->message, sizeof err->message,
                   "the system gives no random numbers for the address of the page");
    return TABI_ERR_FILE;
  }
  static const char digit[] = "0123456789abcdef";
  for (size_t i = 0; i < sizeof random; ++i) {
    access->token[2 * i] = digit[random[i] >> 4];
    access->token[2 * i + 1] = digit[random[i] & 15];
  }
  return TABI_OK;
}

void tbi_access_set_port(tbi_access *access, int port) {
  static const char *const name[2] = {"127.0.0.1", "localhost"};
  for (int i = 0; i < 2; ++i) {
    (void)snprintf(access->host[i], sizeof access->host[i], "%s:%d", name[i], port);
    (void)snprintf(access->origin[i], sizeof access->origin[i], "http://%s:%d", name[i], port);
  }
}

bool tbi_access_allows_host(const tbi_access *access, const char *host) {
  return host && (strcmp(host, access->host[0]) == 0 || strcmp(host, access->host[1]) == 0);
}

bool tbi_access_allows_origin(const tbi_access *access, const char *origin) {
  return origin &&
         (strcmp(origin, access->origin[0]) == 0 || strcmp(origin, access->origin[1]) == 0);
}

const char *tbi_access_path(const tbi_access *access, const char *path) {
  if (strnlen(path, TBI_TOKEN_SIZE + 2) < TBI_TOKEN_SIZE + 2) return NULL;
  unsigned char wrong = 0;
  for (int i = 0; i < TBI_TOKEN_SIZE; ++i)
    wrong |= (unsigned char)(path[1 + i] ^ access->token[i]);
  wrong |= (unsigned char)(path[0] ^ '/');
  wrong |= (unsigned char)(path[1 + TBI_TOKEN_SIZE] ^ '/');
  return wrong ? NULL : path + TBI_TOKEN_SIZE + 2;
}
