/* ply.c - reads PLY: a header of lines, then elements in words or bytes.
 *
 *   ply
 *   format binary_little_endian 1.0
 *   element vertex 8                       (property float x, ... of any types and names)
 *   element face 12                        (property list uchar int vertex_indices)
 *   end_header
 *
 * Of vertices x, y and z are taken, of faces the list called vertex_indices or vertex_index; all
 * other properties and elements are stepped over.  Vertices must stand before the faces. */
#include "io/mesh/mesh_file.h"

#include "io/first_error.h"
#include "io/number.h"
#include "io/weld.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ELEMENTS   16
#define MAX_PROPERTIES 64

typedef enum number_type { NO_TYPE, I8, U8, I16, U16, I32, U32, F32, F64 } number_type;

static const struct {
  const char *name;
  number_type type;
} type_names[] = {
    {"char",    I8 },
    {"uchar",   U8 },
    {"short",   I16},
    {"ushort",  U16},
    {"int",     I32},
    {"uint",    U32},
    {"float",   F32},
    {"double",  F64},
    {"int8",    I8 },
    {"uint8",   U8 },
    {"int16",   I16},
    {"uint16",  U16},
    {"int32",   I32},
    {"uint32",  U32},
    {"float32", F32},
    {"float64", F64},
};

static const size_t type_bytes[] = {0, 1, 1, 2, 2, 4, 4, 4, 8};

typedef struct property {
  number_type count, type; /* count NO_TYPE: a number, else a list */
  int role;                /* 0 to 2: x, y, z; 3: corners of a face; -1: nothing to us */
} property;

typedef struct element {
  bool vertices, faces;
  size_t count;
  property property[MAX_PROPERTIES];
  int nproperty;
} element;

typedef struct source {
  const char *bytes;
  size_t size, at;
  bool ascii, swap;
  const char *name;
  tabi_place place;
  tbi_first_error *error;
  element element[MAX_ELEMENTS];
  int nelement;
  double *vertices;
  size_t nvertex;
  tbi_weld weld;
} source;

#define FAIL(s, ...) tbi_fail_at((s)->error, TABI_ERR_PARSE, (s)->place, __VA_ARGS__)

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* The next word up to the end of the line, or of the text where lines do not matter; 0: none. */
static size_t next_word(source *s, bool in_line, const char **word) {
  while (s->at < s->size && is_space(s->bytes[s->at]) && !(in_line && s->bytes[s->at] == '\n'))
    ++s->at;
  size_t begin = s->at;
  while (s->at < s->size && !is_space(s->bytes[s->at]))
    ++s->at;
  *word = s->bytes + begin;
  return s->at - begin;
}

static void skip_line(source *s) {
  while (s->at < s->size && s->bytes[s->at] != '\n')
    ++s->at;
  if (s->at < s->size) ++s->at;
}

static bool is_word(const char *word, size_t n, const char *expected) {
  return n == strlen(expected) && memcmp(word, expected, n) == 0;
}

static number_type type_of(const char *word, size_t n) {
  for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; ++i) {
    if (is_word(word, n, type_names[i].name)) return type_names[i].type;
  }
  return NO_TYPE;
}

static bool read_format(source *s) {
  const char *word;
  size_t n = next_word(s, true, &word);
  const uint16_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  s->ascii = is_word(word, n, "ascii");
  bool little = is_word(word, n, "binary_little_endian");
  s->swap = little != (first == 1);
  if (s->ascii || little || is_word(word, n, "binary_big_endian")) return true;
  return FAIL(s, "mesh '%.200s': PLY format '%.*s' is unknown", s->name, (int)(n < 40 ? n : 40),
              word);
}

static bool read_element(source *s) {
  const char *word;
  size_t n = next_word(s, true, &word);
  if (s->nelement == MAX_ELEMENTS)
    return FAIL(s, "mesh '%.200s': PLY has more than %d elements", s->name, MAX_ELEMENTS);
  element *e = &s->element[s->nelement++];
  *e = (element){.vertices = is_word(word, n, "vertex"), .faces = is_word(word, n, "face")};
  double count = -1;
  n = next_word(s, true, &word);
  // every item takes a byte at least
  bool whole = tbi_number_read(word, n, &count) && count >= 0 && count == floor(count);
  if (!whole || count > (double)s->size) {
    return FAIL(s, "mesh '%.200s': PLY declares %.*s items, file has %zu bytes", s->name,
                (int)(n < 40 ? n : 40), word, s->size);
  }
  e->count = (size_t)count;
  return true;
}

static int role_of(const element *e, const property *p, const char *word, size_t n) {
  static const char *const axis[] = {"x", "y", "z"};
  for (int k = 0; k < 3; ++k) {
    if (e->vertices && !p->count && is_word(word, n, axis[k])) return k;
  }
  bool list = is_word(word, n, "vertex_indices") || is_word(word, n, "vertex_index");
  return e->faces && p->count && list ? 3 : -1;
}

static bool read_property(source *s) {
  const char *word;
  element *e = s->nelement > 0 ? &s->element[s->nelement - 1] : NULL;
  if (!e || e->nproperty == MAX_PROPERTIES)
    return FAIL(s, "mesh '%.200s': PLY property without an element, or too many", s->name);
  property p = {0};
  size_t n = next_word(s, true, &word);
  bool list = is_word(word, n, "list");
  if (list) {
    n = next_word(s, true, &word);
    p.count = type_of(word, n);
    n = next_word(s, true, &word);
  }
  p.type = type_of(word, n);
  if (p.type == NO_TYPE || (list && (p.count == NO_TYPE || p.count >= F32)))
    return FAIL(s, "mesh '%.200s': PLY property type '%.*s' is unknown", s->name,
                (int)(n < 40 ? n : 40), word);
  n = next_word(s, true, &word);
  p.role = role_of(e, &p, word, n);
  e->property[e->nproperty++] = p;
  return true;
}

static bool read_header(source *s) {
  const char *word;
  bool format = false;
  size_t n = next_word(s, true, &word);
  if (!is_word(word, n, "ply")) return FAIL(s, "mesh '%.200s': not a PLY file", s->name);
  while (tbi_ok(s->error)) {
    skip_line(s);
    n = next_word(s, true, &word);
    if (is_word(word, n, "end_header")) break;
    if (is_word(word, n, "format")) format = read_format(s);
    if (is_word(word, n, "element")) read_element(s);
    if (is_word(word, n, "property")) read_property(s);
    if (s->at == s->size) return FAIL(s, "mesh '%.200s': PLY header does not end", s->name);
  }
  skip_line(s);
  return tbi_ok(s->error) && (format || FAIL(s, "mesh '%.200s': PLY without a format", s->name));
}

static double from_bytes(number_type type, const unsigned char *b) {
  int8_t i8;
  int16_t i16;
  uint16_t u16;
  int32_t i32;
  uint32_t u32;
  float f32;
  double f64;
  switch (type) {
  case I8:
    memcpy(&i8, b, sizeof i8);
    return i8;
  case U8:
    return *b;
  case I16:
    memcpy(&i16, b, sizeof i16);
    return i16;
  case U16:
    memcpy(&u16, b, sizeof u16);
    return u16;
  case I32:
    memcpy(&i32, b, sizeof i32);
    return i32;
  case U32:
    memcpy(&u32, b, sizeof u32);
    return u32;
  case F32:
    memcpy(&f32, b, sizeof f32);
    return (double)f32;
  default:
    memcpy(&f64, b, sizeof f64);
    return f64;
  }
}

static bool read_number(source *s, number_type type, double *value) {
  if (s->ascii) {
    const char *word;
    size_t n = next_word(s, false, &word);
    if (tbi_number_read(word, n, value)) return true;
    return n == 0 ? FAIL(s, "mesh '%.200s': PLY file is cut off", s->name)
                  : FAIL(s, "mesh '%.200s': '%.*s' is not a number", s->name,
                         (int)(n < 40 ? n : 40), word);
  }
  size_t bytes = type_bytes[type];
  unsigned char b[8] = {0};
  if (s->size - s->at < bytes) return FAIL(s, "mesh '%.200s': PLY file is cut off", s->name);
  for (size_t i = 0; i < bytes; ++i)
    b[i] = (unsigned char)s->bytes[s->at + (s->swap ? bytes - 1 - i : i)];
  s->at += bytes;
  *value = from_bytes(type, b);
  return true;
}

/* One corner of a face. */
static bool read_corner(source *s, const property *p, size_t face, const double **corner) {
  double index = 0;
  if (!read_number(s, p->type, &index)) return false;
  if (!(index >= 0 && index < (double)s->nvertex)) {
    return FAIL(s, "mesh '%.200s': face %zu uses vertex %.0f of %zu (from 0)", s->name, face + 1,
                index, s->nvertex);
  }
  *corner = s->vertices + 3 * (size_t)index;
  return true;
}

/* A polygon as a fan around its first corner. */
static bool read_corners(source *s, const property *p, size_t face, size_t count) {
  const double *corner[3] = {s->vertices, s->vertices, s->vertices};
  for (size_t k = 0; k < count; ++k) {
    if (!read_corner(s, p, face, &corner[k < 3 ? k : 2])) return false;
    if (k < 2) continue;
    double fan[9];
    for (size_t i = 0; i < 3; ++i)
      memcpy(fan + 3 * i, corner[i], 3 * sizeof *fan);
    if (!tbi_weld_face(&s->weld, fan)) return false;
    corner[1] = corner[2];
  }
  return true;
}

static bool read_list(source *s, const property *p, size_t item) {
  double count = 0;
  double unused;
  if (!read_number(s, p->count, &count)) return false;
  if (!(count >= 0 && count <= (double)s->size))
    return FAIL(s, "mesh '%.200s': a list of %.0f numbers", s->name, count);
  if (p->role == 3) return read_corners(s, p, item, (size_t)count);
  for (size_t k = 0; k < (size_t)count; ++k) {
    if (!read_number(s, p->type, &unused)) return false;
  }
  return true;
}

static bool read_item(source *s, const element *e, size_t item) {
  double value = 0;
  for (int i = 0; i < e->nproperty; ++i) {
    const property *p = &e->property[i];
    bool read = p->count ? read_list(s, p, item) : read_number(s, p->type, &value);
    if (!read) return false;
    if (p->role < 0 || p->role > 2) continue;
    if (!isfinite(value)) return FAIL(s, "mesh '%.200s': vertex %zu not finite", s->name, item + 1);
    s->vertices[3 * item + (size_t)p->role] = value;
  }
  return true;
}

static bool has_role(const element *e, int role) {
  for (int i = 0; i < e->nproperty; ++i) {
    if (e->property[i].role == role) return true;
  }
  return false;
}

static bool begin_element(source *s, const element *e) {
  if (e->vertices) {
    if (s->vertices || !has_role(e, 0) || !has_role(e, 1) || !has_role(e, 2))
      return FAIL(s, "mesh '%.200s': PLY vertices need x, y and z, once", s->name);
    if (e->count > TBI_MESH_MAX_VERTICES) {
      return FAIL(s, "mesh '%.200s': %zu vertices, limit %d; simplify it", s->name, e->count,
                  TBI_MESH_MAX_VERTICES);
    }
    s->vertices = calloc(e->count + 1, 3 * sizeof *s->vertices);
    s->nvertex = e->count;
    if (!s->vertices) return tbi_fail_memory(s->error);
  }
  if (e->faces && !(s->vertices && has_role(e, 3)))
    return FAIL(s, "mesh '%.200s': PLY faces need vertices before them, and vertex_indices",
                s->name);
  return true;
}

static void read_body(source *s) {
  for (int i = 0; i < s->nelement && tbi_ok(s->error); ++i) {
    const element *e = &s->element[i];
    if (!begin_element(s, e)) return;
    if (e->nproperty == 0) continue;
    for (size_t k = 0; k < e->count; ++k) {
      if (!read_item(s, e, k)) return;
    }
  }
}

tabi_status tbi_ply_parse(const void *bytes, size_t size, const char *name, tabi_place place,
                          tbi_mesh *mesh, tabi_error *err) {
  tbi_first_error error = {.err = err};
  *mesh = (tbi_mesh){0};
  source *s = calloc(1, sizeof *s);
  if (!s) tbi_fail_memory(&error);
  if (!s) return error.status;
  s->bytes = bytes;
  s->size = size;
  s->name = name;
  s->place = place;
  s->error = &error;
  if (read_header(s)) {
    tbi_weld_begin(&s->weld, mesh, 0);
    read_body(s);
    free(s->vertices);
    (void)tbi_weld_finish(&s->weld, &error, name, place);
  }
  free(s);
  return error.status;
}
