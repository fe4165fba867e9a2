/* base64.h - bytes as letters, for JSON and HTML (RFC 4648). */
#ifndef TBI_VIEWER_BASE64_H
#define TBI_VIEWER_BASE64_H

#include <stddef.h>

/* Letters that so many bytes become. */
static inline size_t tbi_base64_size(size_t size) { return (size + 2) / 3 * 4; }
/* Writes them, without a zero at the end, and tells how many.  Parts of a multiple of three bytes
 * can be written one after another. */
size_t tbi_base64_encode(const unsigned char *bytes, size_t size, char *text);

#endif
