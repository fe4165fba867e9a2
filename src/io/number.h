/* number.h - one decimal number, independent of the locale. */
#ifndef TBI_NUMBER_H
#define TBI_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the n characters are one number, and nothing else; words like nan and inf, and numbers
 * too large for a double, count and give a value that is not finite. */
bool tbi_number_read(const char *text, size_t n, double *value);

#endif
