/* refused.h - scenes that must be refused, and what must be said about them. */
#ifndef TABI_TESTS_REFUSED_H
#define TABI_TESTS_REFUSED_H

typedef struct refused {
  const char *text;
  int line; /* that is to blame */
  const char *words;
} refused;

/* Loads the scene at the path; the error has to name the file that is to blame. */
void refused_check(const char *path, const refused *scene, const char *blamed);

#endif
