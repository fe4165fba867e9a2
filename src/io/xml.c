/* xml.c - expat's events become a tree.
 *
 * The text is checked before expat sees it: size, then that it begins like XML, then every byte
 * for UTF-8, so that a picture or a UTF-16 file gets a message of its own.  The parser is told
 * UTF-8 whatever the declaration claims.  A DOCTYPE stops it before anything in it is read. */
#include "io/xml.h"

#include "base/assertion.h"
#include "base/error.h"
#include "base/text.h"
#include "io/file.h"

#include <expat.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FIRST_CHUNK ((size_t)16 * 1024)
#define LAST_CHUNK  ((size_t)4 * 1024 * 1024)

typedef struct chunk {
  struct chunk *before;
  size_t used, size;
  alignas(max_align_t) char bytes[];
} chunk;

struct tbi_xml {
  chunk *chunks; /* the newest first */
  tbi_xml_node *root;
};

typedef struct reader {
  XML_Parser parser;
  tbi_xml *xml;
  tbi_xml_node *open; /* innermost element not yet closed */
  const char *path, *text;
  size_t size;
  int depth, items; /* items: elements and attributes so far */
  char *leaf;       /* the text since the last tag, not ended by a zero */
  size_t leaf_size, leaf_room;
  tbi_first_error *error;
} reader;

static void *expat_malloc(size_t size) { return malloc(size); }
static void *expat_realloc(void *block, size_t size) { return realloc(block, size); }
static void expat_free(void *block) { free(block); }

static void *arena_get(tbi_xml *xml, size_t size) {
  size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
  chunk *c = xml->chunks;
  if (!c || c->size - c->used < size) {
    size_t room = c ? 2 * c->size : FIRST_CHUNK;
    if (room > LAST_CHUNK) room = LAST_CHUNK;
    if (room < size) room = size;
    c = malloc(sizeof *c + room);
    if (!c) return NULL;
    *c = (chunk){.before = xml->chunks, .used = 0, .size = room};
    xml->chunks = c;
  }
  void *block = c->bytes + c->used;
  c->used += size;
  return block;
}

/* A copy in one line: control characters become spaces. */
static char *arena_copy_part(tbi_xml *xml, const char *text, size_t length) {
  char *copy = arena_get(xml, length + 1);
  if (!copy) return NULL;
  for (size_t i = 0; i < length; ++i) {
    unsigned char byte = (unsigned char)text[i];
    bool control = byte < 0x20 || byte == 0x7f;
    copy[i] = text[i];
    if (control) copy[i] = ' ';
  }
  copy[length] = '\0';
  return copy;
}

static char *arena_copy(tbi_xml *xml, const char *text) {
  return arena_copy_part(xml, text, strlen(text));
}

void tbi_xml_destroy(tbi_xml *xml) {
  if (!xml) return;
  for (chunk *c = xml->chunks; c;) {
    chunk *before = c->before;
    free(c);
    c = before;
  }
  free(xml);
}

/* Ends the parser's work after an error. */
static void stop(reader *r) { (void)XML_StopParser(r->parser, XML_FALSE); }

static tabi_place here(const reader *r) {
  return (tabi_place){r->path, (int32_t)XML_GetCurrentLineNumber(r->parser)};
}

/* A short text can hold a million empty elements, each of which costs us a hundred bytes. */
static bool check_limits(reader *r, const char **pairs) {
  ++r->depth;
  ++r->items;
  for (; pairs[0]; pairs += 2)
    ++r->items;
  int line = (int)here(r).line;
  if (r->depth > TBI_XML_MAX_DEPTH) {
    return tbi_fail_at(r->error, TABI_ERR_PARSE, here(r), "nesting depth exceeds %d at line %d",
                       TBI_XML_MAX_DEPTH, line);
  }
  if (r->items > TBI_XML_MAX_ITEMS) {
    return tbi_fail_at(r->error, TABI_ERR_PARSE, here(r),
                       "more than %d elements and attributes at line %d", TBI_XML_MAX_ITEMS, line);
  }
  return true;
}

static bool add_attributes(reader *r, tbi_xml_node *node, const char **pairs) {
  tbi_xml_attribute **end = &node->attributes;
  for (; pairs[0]; pairs += 2) {
    tbi_xml_attribute *attribute = arena_get(r->xml, sizeof *attribute);
    if (!attribute) return false;
    char *value = arena_copy(r->xml, pairs[1]);
    if (value) tbi_text_hide_controls(value, ' '); /* lists may stand on several lines */
    *attribute = (tbi_xml_attribute){
        .name = arena_copy(r->xml, pairs[0]),
        .value = value,
        .used = strncmp(pairs[0], "xmlns", 5) == 0,
    };
    if (!attribute->name || !attribute->value) return false;
    *end = attribute;
    end = &attribute->next;
  }
  return true;
}

/* A new element behind its elder siblings. */
static bool open_element(reader *r, const char *name, const char **pairs) {
  if (!check_limits(r, pairs)) return false;
  tbi_xml_node *node = arena_get(r->xml, sizeof *node);
  const char *copy = arena_copy(r->xml, name);
  if (!node || !copy) return tbi_fail_memory(r->error);
  *node = (tbi_xml_node){.name = copy, .text = "", .place = here(r), .parent = r->open};
  if (!add_attributes(r, node, pairs)) return tbi_fail_memory(r->error);
  if (!r->open) {
    r->xml->root = node;
  } else if (r->open->last) {
    r->open->last->next = node;
    r->open->last = node;
  } else {
    r->open->first = r->open->last = node;
  }
  r->open = node;
  return true;
}

static void XMLCALL on_start(void *user, const char *name, const char **pairs) {
  reader *r = user;
  r->leaf_size = 0;
  if (tbi_ok(r->error) && !open_element(r, name, pairs)) stop(r);
}

/* Text comes in pieces; what stands between the children of an element is dropped. */
static void XMLCALL on_text(void *user, const char *text, int length) {
  reader *r = user;
  if (!tbi_ok(r->error) || !r->open || r->open->first) return;
  size_t needed = r->leaf_size + (size_t)length;
  if (needed > r->leaf_room) {
    size_t room = 2 * needed < FIRST_CHUNK ? FIRST_CHUNK : 2 * needed;
    char *more = realloc(r->leaf, room);
    if (!more) {
      tbi_fail_memory(r->error);
      stop(r);
      return;
    }
    r->leaf = more;
    r->leaf_room = room;
  }
  memcpy(r->leaf + r->leaf_size, text, (size_t)length);
  r->leaf_size = needed;
}

static bool is_white(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* The text of an element without children, without white space around it. */
static bool keep_text(reader *r) {
  const char *text = r->leaf;
  size_t length = r->open->first ? 0 : r->leaf_size;
  r->leaf_size = 0;
  while (length > 0 && is_white(text[length - 1]))
    --length;
  while (length > 0 && is_white(text[0])) {
    ++text;
    --length;
  }
  if (length == 0) return true;
  r->open->text = arena_copy_part(r->xml, text, length);
  return r->open->text || tbi_fail_memory(r->error);
}

static void XMLCALL on_end(void *user, const char *name) {
  reader *r = user;
  (void)name;
  if (!tbi_ok(r->error)) return;
  TBI_ASSERT(r->open);
  if (!keep_text(r)) {
    stop(r);
    return;
  }
  r->open = r->open->parent;
  --r->depth;
}

static bool fail_entities(reader *r) {
  return tbi_fail_at(r->error, TABI_ERR_PARSE, here(r), "DOCTYPE and entities are not allowed");
}

static void XMLCALL on_doctype(void *user, const char *name, const char *system_id,
                               const char *public_id, int has_subset) {
  reader *r = user;
  (void)name;
  (void)system_id;
  (void)public_id;
  (void)has_subset;
  fail_entities(r);
  stop(r);
}

static int32_t line_of(const char *text, size_t offset) {
  int32_t line = 1;
  for (size_t i = 0; i < offset; ++i)
    line += text[i] == '\n';
  return line;
}

/* The length of the UTF-8 sequence at the start of n bytes; 0 if it is none.  Overlong forms,
 * surrogates and what lies beyond U+10FFFF are none. */
static size_t utf8_length(const unsigned char *s, size_t n) {
  if (s[0] < 0x80) return 1;
  size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
  if (s[0] < 0xc2 || s[0] > 0xf4 || n < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((s[i] & 0xc0) != 0x80) return 0;
  }
  if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) return 0;
  if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) return 0;
  return length;
}

static bool looks_utf16(const unsigned char *s, size_t n) {
  if (n < 2) return false;
  if ((s[0] == 0xff && s[1] == 0xfe) || (s[0] == 0xfe && s[1] == 0xff)) return true;
  return (s[0] == '<' && s[1] == 0) || (s[0] == 0 && s[1] == '<');
}

static bool is_control(unsigned char byte) {
  return byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r';
}

static bool fail_encoding(const reader *r, size_t offset) {
  return tbi_fail_at(r->error, TABI_ERR_PARSE, (tabi_place){r->path, line_of(r->text, offset)},
                     "invalid UTF-8 at byte %zu; save as UTF-8", offset);
}

static bool fail_binary(const reader *r, size_t offset) {
  return tbi_fail_at(r->error, TABI_ERR_PARSE, (tabi_place){r->path, line_of(r->text, offset)},
                     "not an XML text file (byte 0x%02x at offset %zu)",
                     (unsigned)(unsigned char)r->text[offset], offset);
}

static bool check_text(const reader *r) {
  const unsigned char *s = (const unsigned char *)r->text;
  tabi_place start = {r->path, 1};
  if (r->size == 0) return tbi_fail_at(r->error, TABI_ERR_PARSE, start, "file is empty");
  if (r->size > TBI_XML_MAX_BYTES) {
    return tbi_fail_at(r->error, TABI_ERR_PARSE, start, "file is %zu MB, limit %zu MB",
                       tbi_file_megabytes(r->size), tbi_file_megabytes(TBI_XML_MAX_BYTES));
  }
  if (looks_utf16(s, r->size)) return fail_encoding(r, 0);
  // the first character that is not white must open a tag
  size_t at = r->size >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  while (at < r->size && is_white(r->text[at]))
    ++at;
  if (at == r->size) return tbi_fail_at(r->error, TABI_ERR_PARSE, start, "file is empty");
  if (s[at] != '<') return fail_binary(r, at);
  // and all that follows must be text
  while (at < r->size) {
    if (is_control(s[at])) return fail_binary(r, at);
    size_t length = utf8_length(s + at, r->size - at);
    if (length == 0) return fail_encoding(r, at);
    at += length;
  }
  return true;
}

static bool fail_open(const reader *r, const char *what, int length, int32_t line) {
  return tbi_fail_at(r->error, TABI_ERR_PARSE, here(r),
                     "XML not well-formed: unclosed tag '%.*s' opened at line %d",
                     length < 64 ? length : 64, what, (int)line);
}

/* The text ends within a tag or a comment. */
static bool fail_cut(const reader *r) {
  XML_Index at = XML_GetCurrentByteIndex(r->parser);
  if (at < 0) at = 0;
  const char *tail = r->text + at;
  size_t left = r->size - (size_t)at;
  if (left >= 4 && memcmp(tail, "<!--", 4) == 0) {
    return tbi_fail_at(r->error, TABI_ERR_PARSE, here(r), "XML not well-formed: unclosed comment");
  }
  // the name follows the bracket of an opening tag
  int length = 0;
  while ((size_t)length + 1 < left && !strchr(" \t\r\n/>=\"'<&!?", tail[length + 1]))
    ++length;
  if (length > 0) return fail_open(r, tail + 1, length, here(r).line);
  if (r->open) return fail_open(r, r->open->name, 64, r->open->place.line);
  return tbi_fail_at(r->error, TABI_ERR_PARSE, here(r), "XML not well-formed: the text is cut off");
}

static bool fail_expat(reader *r) {
  switch (XML_GetErrorCode(r->parser)) {
  case XML_ERROR_NO_MEMORY:
    return tbi_fail_memory(r->error);
  case XML_ERROR_UNCLOSED_TOKEN:
  case XML_ERROR_PARTIAL_CHAR:
    return fail_cut(r);
  case XML_ERROR_NO_ELEMENTS:
  case XML_ERROR_TAG_MISMATCH:
  case XML_ERROR_UNCLOSED_CDATA_SECTION:
    if (r->open) return fail_open(r, r->open->name, 64, r->open->place.line);
    break;
  case XML_ERROR_UNDEFINED_ENTITY:
    return fail_entities(r);
  default:
    break;
  }
  return tbi_fail_at(r->error, TABI_ERR_PARSE, here(r), "XML not well-formed: %s",
                     XML_ErrorString(XML_GetErrorCode(r->parser)));
}

/* The end of white space and comments. */
static size_t skip_comments(const reader *r, size_t at) {
  for (;;) {
    while (at < r->size && is_white(r->text[at]))
      ++at;
    if (r->size - at < 7 || memcmp(r->text + at, "<!--", 4) != 0) return at;
    size_t end = at + 4;
    while (end + 3 <= r->size && memcmp(r->text + end, "-->", 3) != 0)
      ++end;
    if (end + 3 > r->size) return at;
    at = end + 3;
  }
}

/* Whether a declaration says its version first, as it must. */
static bool names_version(const reader *r, size_t at) {
  while (at < r->size && is_white(r->text[at]))
    ++at;
  return r->size - at >= 7 && memcmp(r->text + at, "version", 7) == 0;
}

/* A declaration behind comments, or without a version (often spelt wrong), is an error for expat,
 * and common in robot files: where it starts and ends, or an empty span. */
static void find_odd_declaration(const reader *r, size_t span[2]) {
  size_t start = r->size >= 3 && memcmp(r->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  size_t at = skip_comments(r, start);
  span[0] = span[1] = 0;
  if (r->size - at < 6 || memcmp(r->text + at, "<?xml", 5) != 0) return;
  if (!is_white(r->text[at + 5])) return;
  if (at == start && names_version(r, at + 5)) return;
  for (size_t end = at; end + 2 <= r->size; ++end) {
    if (memcmp(r->text + end, "?>", 2) != 0) continue;
    span[0] = at;
    span[1] = end + 2;
    return;
  }
}

static enum XML_Status feed(const reader *r, size_t from, size_t to, bool last) {
  return XML_Parse(r->parser, r->text + from, (int)(to - from), last);
}

/* An odd declaration is read as white space, so that lines and bytes are still counted right. */
static enum XML_Status feed_text(const reader *r) {
  size_t span[2];
  find_odd_declaration(r, span);
  if (span[1] == 0) return feed(r, 0, r->size, true);
  enum XML_Status done = feed(r, 0, span[0], false);
  for (size_t at = span[0]; at < span[1] && done == XML_STATUS_OK; ++at)
    done = XML_Parse(r->parser, r->text[at] == '\n' ? "\n" : " ", 1, 0);
  return done == XML_STATUS_OK ? feed(r, span[1], r->size, true) : done;
}

static bool parse_with_expat(reader *r) {
  const XML_Memory_Handling_Suite memory = {expat_malloc, expat_realloc, expat_free};
  r->parser = XML_ParserCreate_MM("UTF-8", &memory, NULL);
  if (!r->parser) return tbi_fail_memory(r->error);
  XML_SetUserData(r->parser, r);
  XML_SetElementHandler(r->parser, on_start, on_end);
  XML_SetCharacterDataHandler(r->parser, on_text);
  XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
  enum XML_Status done = feed_text(r);
  if (done != XML_STATUS_OK) fail_expat(r);
  XML_ParserFree(r->parser);
  free(r->leaf);
  r->parser = NULL;
  r->leaf = NULL;
  return tbi_ok(r->error);
}

static tabi_status parse_utf8(const char *text, size_t size, const char *path, tbi_xml **xml,
                              tabi_error *err) {
  tbi_first_error error = {.err = err};
  reader r = {.path = path, .text = text, .size = size, .error = &error};
  if (!check_text(&r)) return error.status;
  r.xml = calloc(1, sizeof *r.xml);
  if (r.xml) r.path = arena_copy(r.xml, path);
  bool room = r.xml && r.path;
  if (!room) tbi_fail_memory(&error);
  if (room && parse_with_expat(&r)) {
    TBI_ASSERT(r.xml->root && !r.open);
    *xml = r.xml;
  } else {
    tbi_xml_destroy(r.xml);
  }
  return error.status;
}

/* Whether the declaration in the first line says that the text is Latin-1. */
static bool says_latin1(const char *text, size_t size) {
  static const char *const names[] = {"iso-8859-1", "iso8859-1", "latin1", "latin-1",
                                      "windows-1252"};
  if (size < 5 || memcmp(text, "<?xml", 5) != 0) return false;
  for (size_t at = 5; at + 9 < size && text[at] != '>'; ++at) {
    if (strncmp(text + at, "encoding", 8) != 0) continue;
    at += 8;
    while (at < size && (is_white(text[at]) || strchr("=\"'", text[at])))
      ++at;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
      size_t n = strlen(names[i]);
      if (size - at > n && strncasecmp(text + at, names[i], n) == 0) return true;
    }
    return false;
  }
  return false;
}

/* Latin-1 as UTF-8, which the caller frees; NULL: out of memory. */
static char *from_latin1(const char *text, size_t size, size_t *length) {
  char *converted = malloc(2 * size + 1);
  size_t n = 0;
  for (size_t i = 0; converted && i < size; ++i) {
    unsigned char c = (unsigned char)text[i];
    if (c < 0x80) {
      converted[n++] = text[i];
    } else {
      converted[n++] = (char)(0xc0 | c >> 6);
      converted[n++] = (char)(0x80 | (c & 0x3f));
    }
  }
  *length = n;
  return converted;
}

static bool is_utf8(const char *text, size_t size) {
  size_t at = 0;
  size_t length = 1;
  for (; at < size && length > 0; at += length)
    length = utf8_length((const unsigned char *)text + at, size - at);
  return length > 0;
}

tabi_status tbi_xml_parse(const char *text, size_t size, const char *path, tbi_xml **xml,
                          tabi_error *err) {
  *xml = NULL;
  // some programs write the end of their string, too
  while (size > 1 && text[size - 1] == '\0' && text[0] == '<')
    --size;
  if (size > TBI_XML_MAX_BYTES || !says_latin1(text, size) || is_utf8(text, size))
    return parse_utf8(text, size, path, xml, err);
  size_t length = 0;
  char *converted = from_latin1(text, size, &length);
  if (!converted) return tbi_error_memory(err);
  tabi_status status = parse_utf8(converted, length, path, xml, err);
  free(converted);
  return status;
}

tabi_status tbi_xml_read(const char *path, tbi_xml **xml, tabi_error *err) {
  *xml = NULL;
  char *text = NULL;
  size_t size = 0;
  tabi_place itself = {NULL, 0};
  tabi_status status = tbi_file_read(path, TBI_XML_MAX_BYTES, itself, &text, &size, err);
  if (status != TABI_OK) return status;
  status = tbi_xml_parse(text, size, path, xml, err);
  free(text);
  return status;
}

tbi_xml_node *tbi_xml_root(tbi_xml *xml) {
  TBI_ASSERT(xml->root);
  xml->root->used = true;
  return xml->root;
}

static tbi_xml_node *named(tbi_xml_node *node, const char *name) {
  while (node && strcmp(node->name, name) != 0)
    node = node->next;
  if (node) node->used = true;
  return node;
}

tbi_xml_node *tbi_xml_child(tbi_xml_node *node, const char *name) {
  return named(node->first, name);
}

tbi_xml_node *tbi_xml_next(tbi_xml_node *node) { return named(node->next, node->name); }

/* The next element in reading order below root; NULL after the last. */
static tbi_xml_node *next_below(tbi_xml_node *node, const tbi_xml_node *root) {
  if (node->first) return node->first;
  while (node != root && !node->next)
    node = node->parent;
  return node == root ? NULL : node->next;
}

void tbi_xml_use_all(tbi_xml_node *node) {
  for (tbi_xml_node *each = node; each; each = next_below(each, node)) {
    each->used = true;
    for (tbi_xml_attribute *a = each->attributes; a; a = a->next)
      a->used = true;
  }
}

const char *tbi_xml_get(tbi_xml_node *node, const char *attribute) {
  for (tbi_xml_attribute *a = node->attributes; a; a = a->next) {
    if (strcmp(a->name, attribute) != 0) continue;
    a->used = true;
    return a->value;
  }
  return NULL;
}

tbi_xml *tbi_xml_create(void) { return calloc(1, sizeof(tbi_xml)); }

bool tbi_xml_set(tbi_xml *xml, tbi_xml_node *node, const char *attribute, const char *value) {
  TBI_ASSERT(xml && node);
  const char *kept = arena_copy(xml, value);
  tbi_xml_attribute **end = &node->attributes;
  while (*end && strcmp((*end)->name, attribute) != 0)
    end = &(*end)->next;
  if (!*end) {
    tbi_xml_attribute *added = arena_get(xml, sizeof *added);
    const char *name = arena_copy(xml, attribute);
    if (!added || !name) return false;
    *added = (tbi_xml_attribute){.name = name, .value = ""};
    *end = added;
  }
  if (kept) (*end)->value = kept;
  return kept != NULL;
}

static bool copy_attributes(tbi_xml *xml, const tbi_xml_node *node, tbi_xml_node *copy) {
  tbi_xml_attribute **end = &copy->attributes;
  for (const tbi_xml_attribute *a = node->attributes; a; a = a->next) {
    tbi_xml_attribute *added = arena_get(xml, sizeof *added);
    if (!added) return false;
    *added = (tbi_xml_attribute){.name = a->name, .value = a->value, .used = a->used};
    *end = added;
    end = &added->next;
  }
  return true;
}

void tbi_xml_append(tbi_xml_node *parent, tbi_xml_node *child) {
  child->parent = parent;
  if (parent->last) {
    parent->last->next = child;
  } else {
    parent->first = child;
  }
  parent->last = child;
}

// NOLINTNEXTLINE(misc-no-recursion): at most TBI_XML_MAX_DEPTH deep
tbi_xml_node *tbi_xml_copy(tbi_xml *xml, const tbi_xml_node *node, int32_t *room) {
  TBI_ASSERT(xml && node && room);
  tbi_xml_node *copy = *room > 0 ? arena_get(xml, sizeof *copy) : NULL;
  if (!copy) return NULL;
  --*room;
  *copy = (tbi_xml_node){
      .name = node->name, .text = node->text, .place = node->place, .used = node->used};
  if (!copy_attributes(xml, node, copy)) return NULL;
  for (const tbi_xml_node *child = node->first; child; child = child->next) {
    tbi_xml_node *below = tbi_xml_copy(xml, child, room);
    if (!below) return NULL;
    tbi_xml_append(copy, below);
  }
  return copy;
}
