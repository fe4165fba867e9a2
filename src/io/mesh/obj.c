/* obj.c - reads OBJ: lines that begin with a word.
 *
 *   v x y z ...           a vertex; what follows the third number is left out
 *   f a b/t c/t/n d//n    a polygon by vertices: from 1, or from -1 for the last one so far
 *
 * All other lines (normals, textures, groups, materials) do not matter to a body.  A first pass
 * counts, so that the second one has room; a backslash at the end of a line continues it. */
#include "io/mesh/mesh_file.h"

#include "io/first_error.h"
#include "io/number.h"
#include "io/weld.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct source {
  const char *text;
  size_t size, at;
  const char *name;
  tabi_place place;
  tbi_first_error *error;
  double *vertices;
  size_t nvertex, nface, ncorner; /* of the whole file; corners beyond the second of a face */
  size_t vertex, face;            /* so far */
} source;

/* How long the break within a line at this place is: a space, or an end of line that does not end
 * it; 0 for anything else. */
static size_t gap_at(const source *s, size_t at) {
  char c = s->text[at];
  if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') return 1;
  if (c != '\\') return 0;
  if (at + 1 < s->size && s->text[at + 1] == '\n') return 2;
  return at + 2 < s->size && s->text[at + 1] == '\r' && s->text[at + 2] == '\n' ? 3 : 0;
}

/* The next word of the line and its length; 0 at its end. */
static size_t next_word(source *s, const char **word) {
  while (s->at < s->size && gap_at(s, s->at) > 0)
    s->at += gap_at(s, s->at);
  size_t begin = s->at;
  bool comment = s->at < s->size && s->text[s->at] == '#';
  while (s->at < s->size && s->text[s->at] != '\n' && (comment || gap_at(s, s->at) == 0))
    ++s->at;
  if (comment) begin = s->at;
  *word = s->text + begin;
  return s->at - begin;
}

static void skip_line(source *s) {
  const char *word;
  while (next_word(s, &word) > 0) {
  }
  if (s->at < s->size) ++s->at;
}

static bool is_word(const char *word, size_t n, char letter) { return n == 1 && word[0] == letter; }

static void count(source *s) {
  const char *word;
  while (s->at < s->size) {
    size_t n = next_word(s, &word);
    if (is_word(word, n, 'v')) ++s->nvertex;
    if (is_word(word, n, 'f')) {
      size_t corners = 0;
      while (next_word(s, &word) > 0)
        ++corners;
      if (corners > 2) s->ncorner += corners - 2;
      ++s->nface;
    }
    skip_line(s);
  }
  s->at = 0;
}

static bool read_vertex(source *s) {
  double *to = s->vertices + 3 * s->vertex++;
  for (int i = 0; i < 3; ++i) {
    const char *word;
    size_t n = next_word(s, &word);
    if (!tbi_number_read(word, n, &to[i])) {
      return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place,
                         "mesh '%s': vertex %zu needs three numbers", s->name, s->vertex);
    }
    if (!isfinite(to[i])) {
      return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place, "mesh '%s': vertex %zu not finite",
                         s->name, s->vertex);
    }
  }
  return tbi_ok(s->error);
}

/* The whole number before a slash or the end; false when there is none. */
static bool read_index(const char *word, size_t n, long *index) {
  size_t at = n > 0 && word[0] == '-' ? 1 : 0;
  long value = 0;
  size_t begin = at;
  for (; at < n && word[at] >= '0' && word[at] <= '9' && value < 1000000000; ++at)
    value = 10 * value + (word[at] - '0');
  *index = begin > 0 ? -value : value;
  return at > begin && (at == n || word[at] == '/');
}

/* One corner of the present face; false at the end of the line and after an error. */
static bool read_corner(source *s, const double **corner) {
  const char *word;
  size_t n = next_word(s, &word);
  if (n == 0) return false;
  long index = 0;
  if (!read_index(word, n, &index)) {
    return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place,
                       "mesh '%s': face %zu: '%.*s' is no vertex", s->name, s->face,
                       (int)(n < 40 ? n : 40), word);
  }
  long vertex = index < 0 ? (long)s->vertex + index : index - 1;
  if (vertex < 0 || (size_t)vertex >= s->nvertex) {
    return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place,
                       "mesh '%s': face %zu uses vertex %ld of %zu", s->name, s->face, index,
                       s->nvertex);
  }
  *corner = s->vertices + 3 * (size_t)vertex;
  return tbi_ok(s->error);
}

/* A polygon as a fan around its first corner; points and lines have no area. */
static bool read_face(source *s, tbi_weld *w) {
  const double *first = s->vertices;
  const double *last = first;
  const double *corner = first;
  size_t corners = 0;
  ++s->face;
  while (read_corner(s, &corner)) {
    if (++corners > 2) {
      double fan[9];
      memcpy(fan, first, 3 * sizeof *fan);
      memcpy(fan + 3, last, 3 * sizeof *fan);
      memcpy(fan + 6, corner, 3 * sizeof *fan);
      if (!tbi_weld_face(w, fan)) return false;
    }
    if (corners == 1) first = corner;
    last = corner;
  }
  return tbi_ok(s->error);
}

static void read_line(source *s, tbi_weld *w, bool faces) {
  const char *word;
  size_t n = next_word(s, &word);
  if (is_word(word, n, 'v') && faces) ++s->vertex;
  if (is_word(word, n, 'v') && !faces) read_vertex(s);
  if (is_word(word, n, 'f') && faces) read_face(s, w);
  skip_line(s);
}

/* First all vertices, which may follow the faces that use them; then all faces, which count the
 * vertices before them. */
static void read_lines(source *s, tbi_weld *w) {
  for (int pass = 0; pass < 2; ++pass) {
    s->at = 0;
    s->vertex = 0;
    while (s->at < s->size && tbi_ok(s->error))
      read_line(s, w, pass == 1);
  }
}

tabi_status tbi_obj_parse(const void *bytes, size_t size, const char *name, tabi_place place,
                          tbi_mesh *mesh, tabi_error *err) {
  tbi_first_error error = {.err = err};
  source s = {.text = bytes, .size = size, .name = name, .place = place, .error = &error};
  tbi_weld w;
  *mesh = (tbi_mesh){0};
  count(&s);
  if (s.nface == 0)
    tbi_fail_at(&error, TABI_ERR_PARSE, place, "mesh '%s': OBJ file without a face", name);
  if (s.ncorner > TBI_MESH_MAX_FACES) {
    tbi_fail_at(&error, TABI_ERR_PARSE, place, "mesh '%s': %zu faces, limit %d", name, s.ncorner,
                TBI_MESH_MAX_FACES);
  }
  if (s.nvertex > TBI_MESH_MAX_VERTICES) {
    tbi_fail_at(&error, TABI_ERR_PARSE, place, "mesh '%s': %zu vertices, limit %d; simplify it",
                name, s.nvertex, TBI_MESH_MAX_VERTICES);
  }
  if (!tbi_ok(&error)) return error.status;
  tbi_weld_begin(&w, mesh, s.ncorner);
  s.vertices = malloc((3 * s.nvertex + 1) * sizeof *s.vertices);
  if (s.vertices) {
    read_lines(&s, &w);
  } else {
    tbi_fail_memory(&error);
  }
  free(s.vertices);
  return tbi_weld_finish(&w, &error, name, place);
}
