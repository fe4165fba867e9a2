/* scratch.h - files that tests write, in a folder of their own in the build tree. */
#ifndef TABI_TESTS_SCRATCH_H
#define TABI_TESTS_SCRATCH_H

#include <stddef.h>

/* Makes an empty folder for this process; call once, before the others. A setup of cmocka's. */
int scratch_begin(void **state);
/* Removes it with all that is in it. A teardown of cmocka's. */
int scratch_end(void **state);

/* The path of a file in it; the string lives until the 16th call after this one. */
const char *scratch_path(const char *name);
/* Writes a file and returns its path; folders in the name are made. */
const char *scratch_write(const char *name, const void *bytes, size_t size);
const char *scratch_text(const char *name, const char *text);

/* Adds to a string that has room for size bytes in all. */
void scratch_append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A German numeric locale for this process; skips the test if there is none. */
void scratch_need_german(void);

#endif
