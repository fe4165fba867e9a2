/* server_guard.c - hosts and origins are compared as they stand, letter by letter; the token in
 * constant time. */
#include "server_guard.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

tabi_status tbi_guard_create(tbi_guard *guard, tabi_error *err) {
  unsigned char random[TBI_TOKEN_SIZE / 2];
  *guard = (tbi_guard){0};
  if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
    *err = (tabi_error){.status = TABI_ERR_FILE};
    (void)snprintf(err->message, sizeof err->message,
                   "the system gives no random numbers for the address of the page");
    return TABI_ERR_FILE;
  }
  static const char digit[] = "0123456789abcdef";
  for (size_t i = 0; i < sizeof random; ++i) {
    guard->token[2 * i] = digit[random[i] >> 4];
    guard->token[2 * i + 1] = digit[random[i] & 15];
  }
  return TABI_OK;
}

void tbi_guard_set_port(tbi_guard *guard, int port) {
  static const char *const name[2] = {"127.0.0.1", "localhost"};
  for (int i = 0; i < 2; ++i) {
    (void)snprintf(guard->host[i], sizeof guard->host[i], "%s:%d", name[i], port);
    (void)snprintf(guard->origin[i], sizeof guard->origin[i], "http://%s:%d", name[i], port);
  }
}

bool tbi_guard_knows_host(const tbi_guard *guard, const char *host) {
  return host && (strcmp(host, guard->host[0]) == 0 || strcmp(host, guard->host[1]) == 0);
}

bool tbi_guard_knows_origin(const tbi_guard *guard, const char *origin) {
  return origin && (strcmp(origin, guard->origin[0]) == 0 || strcmp(origin, guard->origin[1]) == 0);
}

const char *tbi_guard_enter(const tbi_guard *guard, const char *path) {
  if (strnlen(path, TBI_TOKEN_SIZE + 2) < TBI_TOKEN_SIZE + 2) return NULL;
  unsigned char wrong = 0;
  for (int i = 0; i < TBI_TOKEN_SIZE; ++i)
    wrong |= (unsigned char)(path[1 + i] ^ guard->token[i]);
  wrong |= (unsigned char)(path[0] ^ '/');
  wrong |= (unsigned char)(path[1 + TBI_TOKEN_SIZE] ^ '/');
  return wrong ? NULL : path + TBI_TOKEN_SIZE + 2;
}
