/* png.c - see png.h.
 *
 *   signature, then chunks: length, name, data, checksum
 *   IHDR   width, height, bits, kind of colour, three more bytes
 *   PLTE   colours of a palette
 *   IDAT   rows, packed by zlib; a row begins with the filter that its bytes were predicted by
 *
 * Checksums of chunks are not compared; zlib has its own. */
#include "io/mesh/png.h"

#include "io/first_error.h"

#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

#define MAX_SIDE 32767

typedef enum colour_kind {
  GREY = 0,
  RGB = 2,
  PALETTE = 3,
  GREY_ALPHA = 4,
  RGB_ALPHA = 6,
} colour_kind;

typedef struct source {
  const unsigned char *bytes;
  size_t size, at;
  const char *name;
  tabi_place place;
  tbi_first_error *error;
  uint32_t width, height;
  unsigned bits, kind, channels;
  double palette[256]; /* brightness */
  unsigned ncolour;
  unsigned char *rows; /* unpacked */
  size_t row_bytes;    /* without the filter */
  size_t filled;
} source;

typedef struct chunk {
  const unsigned char *data;
  size_t size;
  char name[5];
} chunk;

static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

bool tbi_png_is(const void *bytes, size_t size) {
  return size >= sizeof signature && memcmp(bytes, signature, sizeof signature) == 0;
}

static bool fail(const source *s, const char *why) {
  (void)tbi_fail_at(s->error, TABI_ERR_PARSE, s->place, "picture '%.200s': %s", s->name, why);
  return false;
}

static uint32_t load_u32(const unsigned char *b) {
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

static bool next_chunk(source *s, chunk *c) {
  if (s->size - s->at < 12) return fail(s, "PNG ends early");
  const unsigned char *head = s->bytes + s->at;
  c->size = load_u32(head);
  if (c->size > s->size - s->at - 12) return fail(s, "PNG ends early");
  memcpy(c->name, head + 4, 4);
  c->name[4] = '\0';
  c->data = head + 8;
  s->at += 12 + c->size;
  return true;
}

static unsigned channels_of(unsigned kind) {
  switch (kind) {
  case GREY:
  case PALETTE:
    return 1;
  case GREY_ALPHA:
    return 2;
  case RGB:
    return 3;
  case RGB_ALPHA:
    return 4;
  default:
    return 0;
  }
}

static bool bits_allowed(unsigned kind, unsigned bits) {
  if (bits == 8) return true;
  if (bits == 16) return kind != PALETTE;
  return (kind == GREY || kind == PALETTE) && (bits == 1 || bits == 2 || bits == 4);
}

static bool read_head(source *s, int32_t max_points) {
  chunk c = {0};
  s->at = sizeof signature;
  if (!next_chunk(s, &c)) return false;
  if (strcmp(c.name, "IHDR") != 0 || c.size != 13) return fail(s, "PNG without a head");
  s->width = load_u32(c.data);
  s->height = load_u32(c.data + 4);
  s->bits = c.data[8];
  s->kind = c.data[9];
  s->channels = channels_of(s->kind);
  if (s->channels == 0 || !bits_allowed(s->kind, s->bits) || c.data[10] != 0 || c.data[11] != 0)
    return fail(s, "PNG of an unknown kind");
  if (c.data[12] != 0) return fail(s, "interlaced PNG is not read; save it without interlacing");
  if (s->width == 0 || s->height == 0 || s->width > MAX_SIDE || s->height > MAX_SIDE ||
      (uint64_t)s->width * s->height > (uint64_t)max_points) {
    return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place,
                       "picture '%.200s': %u x %u pixels, limit %d; make it smaller", s->name,
                       (unsigned)s->width, (unsigned)s->height, (int)max_points);
  }
  s->row_bytes = ((size_t)s->width * s->channels * s->bits + 7) / 8;
  return true;
}

static double brightness(double red, double green, double blue) {
  if (red == green && green == blue) return red;
  return 0.299 * red + 0.587 * green + 0.114 * blue;
}

static void read_palette(source *s, const chunk *c) {
  s->ncolour = (unsigned)(c->size / 3 < 256 ? c->size / 3 : 256);
  for (unsigned i = 0; i < s->ncolour; ++i) {
    const unsigned char *rgb = c->data + 3 * (size_t)i;
    s->palette[i] = brightness(rgb[0] / 255.0, rgb[1] / 255.0, rgb[2] / 255.0);
  }
}

/* Feeds one chunk; what would not fit is dropped, and missing rows are found later. */
static bool unpack(source *s, z_stream *z, const chunk *c, size_t room) {
  z->next_in = c->data;
  z->avail_in = (uInt)c->size;
  while (z->avail_in > 0 && s->filled < room) {
    z->next_out = s->rows + s->filled;
    z->avail_out = (uInt)(room - s->filled);
    int done = inflate(z, Z_NO_FLUSH);
    s->filled = room - z->avail_out;
    if (done == Z_MEM_ERROR) return tbi_fail_memory(s->error);
    if (done == Z_STREAM_END) return true;
    if (done != Z_OK) return fail(s, "PNG is damaged");
  }
  return true;
}

static bool read_chunks(source *s, z_stream *z, size_t room) {
  chunk c = {0};
  while (next_chunk(s, &c)) {
    if (strcmp(c.name, "IEND") == 0) break;
    if (strcmp(c.name, "PLTE") == 0) read_palette(s, &c);
    if (strcmp(c.name, "IDAT") == 0 && !unpack(s, z, &c, room)) return false;
    // what programs write behind the last row does not matter
    if (s->filled == room) return true;
  }
  return tbi_ok(s->error) && (s->filled == room || fail(s, "PNG has too few rows"));
}

static bool read_rows(source *s) {
  size_t room = (s->row_bytes + 1) * s->height;
  z_stream z = {.zalloc = Z_NULL};
  s->rows = calloc(room + 1, 1);
  if (!s->rows || inflateInit(&z) != Z_OK) {
    tbi_fail_memory(s->error);
    return false;
  }
  bool good = read_chunks(s, &z, room);
  (void)inflateEnd(&z);
  return good;
}

static int paeth(int a, int b, int c) {
  int p = a + b - c;
  int pa = abs(p - a);
  int pb = abs(p - b);
  int pc = abs(p - c);
  if (pa <= pb && pa <= pc) return a;
  return pb <= pc ? b : c;
}

/* Adds to each byte what was predicted from those to the left, above, and above to the left. */
static bool unfilter(const source *s, uint32_t row) {
  size_t step = (s->channels * s->bits + 7) / 8;
  unsigned char *now = s->rows + row * (s->row_bytes + 1);
  const unsigned char *up = row > 0 ? now - s->row_bytes : NULL;
  unsigned filter = *now++;
  if (filter > 4) return fail(s, "PNG is damaged");
  for (size_t i = 0; i < s->row_bytes; ++i) {
    int a = i >= step ? now[i - step] : 0;
    int b = up ? up[i] : 0;
    int c = up && i >= step ? up[i - step] : 0;
    const int predicted[5] = {0, a, b, (a + b) / 2, paeth(a, b, c)};
    now[i] = (unsigned char)(now[i] + predicted[filter]);
  }
  return true;
}

static unsigned sample(const source *s, const unsigned char *row, size_t i) {
  if (s->bits == 16) return (unsigned)row[2 * i] << 8 | row[2 * i + 1];
  if (s->bits == 8) return row[i];
  size_t per_byte = 8 / s->bits;
  unsigned shift = 8 - s->bits * (unsigned)(i % per_byte + 1);
  return (unsigned)row[i / per_byte] >> shift & ((1U << s->bits) - 1);
}

static bool grey_of(const source *s, const unsigned char *row, size_t column, double *grey) {
  double most = (double)((1U << s->bits) - 1);
  size_t first = column * s->channels;
  unsigned value = sample(s, row, first);
  if (s->kind == PALETTE) {
    if (value >= s->ncolour) return fail(s, "PNG uses a colour that its palette does not have");
    *grey = s->palette[value];
  } else if (s->channels < 3) {
    *grey = value / most;
  } else {
    *grey = brightness(value / most, sample(s, row, first + 1) / most,
                       sample(s, row, first + 2) / most);
  }
  return true;
}

static bool read_pixels(source *s, tbi_png *png) {
  png->columns = (int32_t)s->width;
  png->rows = (int32_t)s->height;
  png->grey = malloc((size_t)s->width * s->height * sizeof *png->grey);
  if (!png->grey) return tbi_fail_memory(s->error);
  for (uint32_t row = 0; row < s->height; ++row) {
    if (!unfilter(s, row)) return false;
    const unsigned char *bytes = s->rows + row * (s->row_bytes + 1) + 1;
    for (uint32_t column = 0; column < s->width; ++column) {
      double *grey = png->grey + (size_t)row * s->width + column;
      if (!grey_of(s, bytes, column, grey)) return false;
    }
  }
  return true;
}

tabi_status tbi_png_read(const void *bytes, size_t size, int32_t max_points, const char *name,
                         tabi_place place, tbi_png *png, tabi_error *err) {
  tbi_first_error error = {.err = err};
  source s = {.bytes = bytes, .size = size, .name = name, .place = place, .error = &error};
  *png = (tbi_png){0};
  if (!tbi_png_is(bytes, size)) {
    fail(&s, "no PNG");
    return error.status;
  }
  if (read_head(&s, max_points) && read_rows(&s)) read_pixels(&s, png);
  free(s.rows);
  if (!tbi_ok(&error)) {
    free(png->grey);
    *png = (tbi_png){0};
  }
  return error.status;
}
