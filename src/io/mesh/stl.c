/* stl.c - reads STL: 84 bytes of head and count and 50 for each face, or words.
 *
 * Many binary files begin with "solid", the first word of the others; a file is binary if its
 * size fits its count, or if it does not begin with that word.  Vertices come as three loose
 * corners per face and are joined (weld.h). */
#include "io/mesh/mesh_file.h"

#include "io/first_error.h"
#include "io/number.h"
#include "io/weld.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define HEAD_BYTES 84 /* text and count */
#define FACE_BYTES 50 /* normal, three corners, two unused bytes */

typedef struct source {
  const unsigned char *bytes;
  size_t size, at; /* at: reading position in ASCII */
  const char *name;
  tabi_place place;
  tbi_first_error *error;
} source;

static bool check_corners(const source *s, const double corners[9], size_t face) {
  for (size_t i = 0; i < 9; ++i) {
    if (isfinite(corners[i])) continue;
    return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place, "mesh '%s': vertex %zu not finite",
                       s->name, 3 * face + i / 3 + 1);
  }
  return tbi_ok(s->error);
}

static uint32_t load_u32(const unsigned char *b) {
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double load_f32(const unsigned char *b) {
  uint32_t bits = load_u32(b);
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static bool read_binary(const source *s, tbi_weld *w, size_t nface) {
  for (size_t face = 0; face < nface; ++face) {
    const unsigned char *b = s->bytes + HEAD_BYTES + FACE_BYTES * face + 12;
    double corners[9];
    for (size_t i = 0; i < 9; ++i)
      corners[i] = load_f32(b + 4 * i);
    if (!check_corners(s, corners, face)) return false;
    if (!tbi_weld_face(w, corners)) return false;
  }
  return tbi_ok(s->error);
}

static bool is_space(unsigned char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

/* The next word and its length; 0 at the end. */
static size_t next_word(source *s, const char **word) {
  while (s->at < s->size && is_space(s->bytes[s->at]))
    ++s->at;
  size_t begin = s->at;
  while (s->at < s->size && !is_space(s->bytes[s->at]))
    ++s->at;
  *word = (const char *)s->bytes + begin;
  return s->at - begin;
}

static bool is_word(const char *word, size_t n, const char *expected) {
  return n == strlen(expected) && strncasecmp(word, expected, n) == 0;
}

static int line_at(const source *s) {
  int line = 1;
  for (size_t i = 0; i < s->at && i < s->size; ++i)
    line += s->bytes[i] == '\n';
  return line;
}

static bool fail_word(const source *s, const char *expected) {
  return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place, "mesh '%s': STL line %d: expected %s",
                     s->name, line_at(s), expected);
}

static bool expect(source *s, const char *expected) {
  const char *word;
  size_t n = next_word(s, &word);
  return is_word(word, n, expected) || fail_word(s, expected);
}

static bool read_three(source *s, double numbers[3]) {
  for (int i = 0; i < 3; ++i) {
    const char *word;
    size_t n = next_word(s, &word);
    if (!tbi_number_read(word, n, &numbers[i])) return fail_word(s, "a number");
  }
  return tbi_ok(s->error);
}

/* What follows the word "facet". */
static void read_facet(source *s, double corners[9]) {
  double normal[3]; // the corners tell the same, and better
  expect(s, "normal");
  read_three(s, normal);
  expect(s, "outer");
  expect(s, "loop");
  for (int i = 0; i < 3; ++i) {
    expect(s, "vertex");
    read_three(s, corners + 3 * (ptrdiff_t)i);
  }
  expect(s, "endloop");
  expect(s, "endfacet");
}

static void skip_line(source *s) {
  while (s->at < s->size && s->bytes[s->at] != '\n')
    ++s->at;
}

/* As many faces as there can be: every one begins with this word, which names may hold too. */
static size_t count_facets(const source *s) {
  size_t count = 0;
  for (size_t i = 1; i + 5 <= s->size; ++i) {
    count += is_space(s->bytes[i - 1]) && strncasecmp((const char *)s->bytes + i, "facet", 5) == 0;
  }
  return count;
}

static bool read_ascii(source *s, tbi_weld *w, size_t nface) {
  size_t face = 0;
  const char *word;
  skip_line(s); // "solid" and a name of any words
  for (;;) {
    size_t n = next_word(s, &word);
    if (n == 0) break;
    if (is_word(word, n, "endsolid") || is_word(word, n, "solid")) {
      skip_line(s);
      continue;
    }
    if (!is_word(word, n, "facet") || face == nface) return fail_word(s, "facet or endsolid");
    double corners[9] = {0};
    read_facet(s, corners);
    if (!check_corners(s, corners, face)) return false;
    if (!tbi_weld_face(w, corners)) return false;
    ++face;
  }
  return tbi_ok(s->error);
}

static bool begins_solid(const source *s) {
  return s->size >= 6 && strncasecmp((const char *)s->bytes, "solid", 5) == 0 &&
         is_space(s->bytes[5]);
}

/* How many faces there are, and in which way they are written. */
static bool judge(const source *s, bool *ascii, size_t *nface) {
  size_t declared = s->size >= HEAD_BYTES ? load_u32(s->bytes + 80) : 0;
  size_t room = s->size >= HEAD_BYTES ? (s->size - HEAD_BYTES) / FACE_BYTES : 0;
  bool fits = s->size >= HEAD_BYTES && s->size == HEAD_BYTES + FACE_BYTES * declared;
  *ascii = !fits && begins_solid(s);
  *nface = *ascii ? count_facets(s) : declared;
  if (!*ascii && s->size < HEAD_BYTES) {
    return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place,
                       "mesh '%s': STL file of %zu bytes is too short", s->name, s->size);
  }
  if (!*ascii && declared > room) {
    return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place,
                       "mesh '%s': STL declares %zu faces, file has room for %zu", s->name,
                       declared, room);
  }
  if (*nface > TBI_MESH_MAX_FACES) {
    return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place, "mesh '%s': %zu faces, limit %d",
                       s->name, *nface, TBI_MESH_MAX_FACES);
  }
  return tbi_ok(s->error);
}

tabi_status tbi_stl_parse(const void *bytes, size_t size, const char *name, tabi_place place,
                          tbi_mesh *mesh, tabi_error *err) {
  tbi_first_error error = {.err = err};
  source s = {bytes, size, 0, name, place, &error};
  tbi_weld w;
  bool ascii = false;
  size_t nface = 0;
  *mesh = (tbi_mesh){0};
  if (!judge(&s, &ascii, &nface)) return error.status;
  tbi_weld_begin(&w, mesh, nface);
  if (ascii) {
    read_ascii(&s, &w, nface);
  } else {
    read_binary(&s, &w, nface);
  }
  return tbi_weld_finish(&w, &error, name, place);
}
