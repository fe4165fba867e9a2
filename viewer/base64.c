/* base64.c - three bytes as four letters; what is missing at the end becomes '='. */
#include "base64.h"

#include <stdint.h>

size_t tbi_base64_encode(const unsigned char *bytes, size_t size, char *text) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t used = 0;
  for (size_t i = 0; i < size; i += 3) {
    size_t left = size - i;
    uint32_t group = (uint32_t)bytes[i] << 16;
    if (left > 1) group |= (uint32_t)bytes[i + 1] << 8;
    if (left > 2) group |= bytes[i + 2];
    for (int shift = 18; shift >= 0; shift -= 6)
      text[used++] = letters[group >> shift & 63];
    if (left < 3) text[used - 1] = '=';
    if (left < 2) text[used - 2] = '=';
  }
  return used;
}
