/* vrml.c - VRML 2.0 by recursive descent.
 *
 * What follows the name of a field tells its kind: a number begins numbers, a quote strings, and a
 * word is TRUE, FALSE, NULL, IS, USE, DEF or the type of a node.  So no table of nodes and fields
 * is needed, and nodes that nobody knows are read like all others. */
#include "io/hrp/vrml.h"

#include "base/array.h"
#include "base/assertion.h"
#include "base/names.h"
#include "io/first_error.h"
#include "io/number.h"

#include <stdlib.h>
#include <string.h>

/* All memory of a tree is a list of blocks. */
typedef struct block {
  struct block *next;
  double data[]; /* aligned for all that is kept here */
} block;

struct tbi_vrml_proto {
  const char *name;
  tbi_vrml_field *defaults;
  tbi_vrml_node *body; /* NULL: none */
};

struct tbi_vrml {
  block *blocks;
  tbi_vrml_field top;
  int32_t items; /* nodes and fields so far */
  const char *path;
};

typedef enum token_kind { END, WORD, NUMBER, STRING, PUNCTUATION } token_kind;

typedef struct token {
  token_kind kind;
  const char *text; /* of a string: after its quote */
  size_t size;
  int32_t line;
} token;

/* A list that is being read: things are gathered at the end of one of the shared stacks. */
typedef struct stack {
  void *items;
  int32_t count, capacity;
} stack;

typedef struct reading {
  tbi_vrml *vrml;
  const char *at, *end;
  int32_t line;
  token next;
  int32_t depth;
  stack numbers, pointers; /* pointers: strings and nodes */
  stack defs;              /* tbi_vrml_node *, by index of def_names */
  stack protos;            /* tbi_vrml_proto *, by index of proto_names */
  tbi_names def_names, proto_names;
  tbi_first_error *error;
} reading;

static tabi_place place_of(const reading *r, const token *t) {
  return (tabi_place){r->vrml->path, t->line};
}

/* ------------------------------------------------------------------------------- memory */

static void *keep(tbi_vrml *vrml, size_t size) {
  block *b = calloc(1, sizeof *b + size);
  if (!b) return NULL;
  b->next = vrml->blocks;
  vrml->blocks = b;
  return b->data;
}

static void *keep_copy(tbi_vrml *vrml, const void *from, size_t size) {
  void *to = keep(vrml, size);
  if (to && size > 0) memcpy(to, from, size);
  return to;
}

static bool count_item(tbi_vrml *vrml, tbi_first_error *error, tabi_place place) {
  if (++vrml->items <= TBI_VRML_MAX_ITEMS) return true;
  return tbi_fail_at(error, TABI_ERR_PARSE, place, "more than %d nodes and fields",
                     TBI_VRML_MAX_ITEMS);
}

static bool push(reading *r, stack *s, const void *item, size_t size) {
  if (!tbi_array_reserve(&s->items, &s->capacity, s->count, 1, size))
    return tbi_fail_memory(r->error);
  memcpy((char *)s->items + (size_t)s->count++ * size, item, size);
  return true;
}

/* -------------------------------------------------------------------------------- lexer */

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ','; }

/* VRML keeps '.' out of names, exporters do not. */
static bool is_word(char c) {
  return (unsigned char)c > ' ' && c != '"' && c != '#' && c != '\'' && c != ',' && c != '[' &&
         c != ']' && c != '\\' && c != '{' && c != '}' && c != 0x7f;
}

static void skip_space(reading *r) {
  for (; r->at < r->end; ++r->at) {
    if (*r->at == '#') {
      while (r->at < r->end && *r->at != '\n')
        ++r->at;
      if (r->at == r->end) return;
    }
    if (!is_space(*r->at)) return;
    r->line += *r->at == '\n';
  }
}

static void scan_string(reading *r, token *t) {
  t->kind = STRING;
  t->text = ++r->at;
  for (; r->at < r->end && *r->at != '"'; ++r->at) {
    r->line += *r->at == '\n';
    if (*r->at == '\\' && r->at + 1 < r->end) ++r->at;
  }
  t->size = (size_t)(r->at - t->text);
  if (r->at == r->end) {
    tbi_fail_at(r->error, TABI_ERR_PARSE, place_of(r, t), "a string does not end");
    return;
  }
  ++r->at;
}

static void scan_word(reading *r, token *t) {
  while (r->at < r->end && is_word(*r->at))
    ++r->at;
  t->size = (size_t)(r->at - t->text);
  char c = *t->text;
  bool number = (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.';
  t->kind = number ? NUMBER : WORD;
}

/* Moves r->next on; after an error it is END. */
static void advance(reading *r) {
  skip_space(r);
  r->next = (token){.kind = END, .text = r->at, .line = r->line};
  if (r->at == r->end || !tbi_ok(r->error)) return;
  token *t = &r->next;
  if (*r->at == '"') {
    scan_string(r, t);
  } else if (strchr("[]{}", *r->at) && *r->at != '\0') {
    *t = (token){PUNCTUATION, r->at++, 1, r->line};
  } else if (is_word(*r->at)) {
    scan_word(r, t);
  } else {
    tbi_fail_at(r->error, TABI_ERR_PARSE, place_of(r, t), "unexpected character (code %d)",
                (unsigned char)*r->at);
  }
  if (!tbi_ok(r->error)) t->kind = END;
}

static bool is(const reading *r, const char *text) {
  return (r->next.kind == WORD || r->next.kind == PUNCTUATION) && r->next.size == strlen(text) &&
         memcmp(r->next.text, text, r->next.size) == 0;
}

static bool accept(reading *r, const char *text) {
  if (!is(r, text)) return false;
  advance(r);
  return true;
}

/* How much of a token fits into a message, which is one line. */
static int shown(const token *t) {
  int n = 0;
  while (n < 40 && (size_t)n < t->size && (unsigned char)t->text[n] >= ' ')
    ++n;
  return n;
}

static bool fail_expected(const reading *r, const char *what) {
  const token *t = &r->next;
  if (t->kind == END) {
    return tbi_fail_at(r->error, TABI_ERR_PARSE, place_of(r, t), "the file ends; expected %s",
                       what);
  }
  return tbi_fail_at(r->error, TABI_ERR_PARSE, place_of(r, t), "expected %s, got '%.*s'", what,
                     shown(t), t->text);
}

static bool expect(reading *r, const char *text) {
  return accept(r, text) || fail_expected(r, text);
}

/* A name of ours for a word; NULL after an error. */
static const char *take_word(reading *r, const char *what) {
  if (r->next.kind != WORD) {
    fail_expected(r, what);
    return NULL;
  }
  char *name = keep(r->vrml, r->next.size + 1);
  if (!name) {
    tbi_fail_memory(r->error);
    return NULL;
  }
  memcpy(name, r->next.text, r->next.size);
  advance(r);
  return name;
}

/* ------------------------------------------------------------------------------- values */

static bool read_hex(const token *t, double *value) {
  size_t i = t->text[0] == '-' || t->text[0] == '+';
  if (t->size < i + 3 || t->text[i] != '0' || (t->text[i + 1] | 0x20) != 'x') return false;
  double sum = 0;
  for (i += 2; i < t->size; ++i) {
    char c = (char)(t->text[i] | 0x20);
    bool letter = c >= 'a' && c <= 'f';
    if (!letter && (c < '0' || c > '9')) return false;
    sum = 16 * sum + (letter ? c - 'a' + 10 : c - '0');
  }
  *value = t->text[0] == '-' ? -sum : sum;
  return true;
}

static bool take_number(reading *r) {
  const token *t = &r->next;
  double value = 0;
  if (!tbi_number_read(t->text, t->size, &value) && !read_hex(t, &value)) {
    return tbi_fail_at(r->error, TABI_ERR_PARSE, place_of(r, t), "'%.*s' is not a number", shown(t),
                       t->text);
  }
  if (!push(r, &r->numbers, &value, sizeof value)) return false;
  advance(r);
  return true;
}

static bool take_string(reading *r) {
  char *text = keep(r->vrml, r->next.size + 1);
  if (!text) return tbi_fail_memory(r->error);
  size_t used = 0;
  for (size_t i = 0; i < r->next.size; ++i) {
    if (r->next.text[i] == '\\' && i + 1 < r->next.size) ++i;
    // a name is one line, as messages are
    char c = r->next.text[i];
    text[used++] = (char)((unsigned char)c < ' ' ? ' ' : c);
  }
  text[used] = '\0';
  if (!push(r, &r->pointers, &text, sizeof(void *))) return false;
  advance(r);
  return true;
}

// NOLINTBEGIN(misc-no-recursion): at most TBI_VRML_MAX_DEPTH deep

static tbi_vrml_node *read_node(reading *r);

static bool take_node(reading *r) {
  tbi_vrml_node *node = read_node(r);
  return node && push(r, &r->pointers, &node, sizeof(void *));
}

/* One item of a list or the whole of a single value; fills the kind. */
static bool take_item(reading *r, tbi_vrml_kind *kind) {
  switch (r->next.kind) {
  case NUMBER:
    *kind = TBI_VRML_NUMBERS;
    return take_number(r);
  case STRING:
    *kind = TBI_VRML_STRINGS;
    return take_string(r);
  case WORD:
    if (is(r, "TRUE") || is(r, "FALSE")) {
      double value = is(r, "TRUE");
      *kind = TBI_VRML_NUMBERS;
      if (!push(r, &r->numbers, &value, sizeof value)) return false;
      advance(r);
      return true;
    }
    *kind = TBI_VRML_NODES;
    return take_node(r);
  default:
    return fail_expected(r, "a value");
  }
}

/* Moves what was gathered since the two marks into the field. */
static bool finish_field(reading *r, tbi_vrml_field *field, int32_t numbers, int32_t pointers) {
  if (!tbi_ok(r->error)) return false;
  bool numeric = field->kind == TBI_VRML_NUMBERS;
  stack *s = numeric ? &r->numbers : &r->pointers;
  int32_t first = numeric ? numbers : pointers;
  size_t size = numeric ? sizeof(double) : sizeof(void *);
  field->count = s->count - first;
  if (field->count > 0) {
    const char *from = (const char *)s->items + (size_t)first * size;
    void *kept = keep_copy(r->vrml, from, (size_t)field->count * size);
    if (!kept) return tbi_fail_memory(r->error);
    if (numeric) {
      field->of.numbers = kept;
    } else {
      field->of.strings = kept;
    }
  }
  s->count = first;
  return true;
}

static bool read_items(reading *r, tbi_vrml_field *field) {
  while (tbi_ok(r->error) && !accept(r, "]")) {
    tbi_vrml_kind kind = TBI_VRML_EMPTY;
    tabi_place place = place_of(r, &r->next);
    if (!take_item(r, &kind)) return false;
    if (field->kind != TBI_VRML_EMPTY && field->kind != kind) {
      return tbi_fail_at(r->error, TABI_ERR_PARSE, place,
                         "field '%.60s' mixes numbers, strings or nodes", field->name);
    }
    field->kind = kind;
  }
  return tbi_ok(r->error);
}

/* A single value may have several numbers, as a vector does. */
static bool read_single(reading *r, tbi_vrml_field *field) {
  if (accept(r, "NULL")) return true;
  if (!take_item(r, &field->kind)) return false;
  while (field->kind == TBI_VRML_NUMBERS && r->next.kind == NUMBER && tbi_ok(r->error))
    take_number(r);
  return tbi_ok(r->error);
}

static bool read_is(reading *r, tbi_vrml_field *field) {
  const char *name = take_word(r, "the name of a field after IS");
  field->kind = TBI_VRML_IS;
  return name && push(r, &r->pointers, &name, sizeof(void *));
}

static bool read_value(reading *r, tbi_vrml_field *field) {
  int32_t numbers = r->numbers.count;
  int32_t pointers = r->pointers.count;
  bool good = accept(r, "IS")  ? read_is(r, field)
              : accept(r, "[") ? read_items(r, field)
                               : read_single(r, field);
  return good && finish_field(r, field, numbers, pointers);
}

static tbi_vrml_field *make_field(reading *r, const char *what) {
  tabi_place place = place_of(r, &r->next);
  const char *name = take_word(r, what);
  if (!name || !count_item(r->vrml, r->error, place)) return NULL;
  tbi_vrml_field *field = keep(r->vrml, sizeof *field);
  if (!field) {
    tbi_fail_memory(r->error);
    return NULL;
  }
  field->name = name;
  field->place = place;
  return field;
}

/* ------------------------------------------------------------------ declarations, routes */

static bool is_declaration(const reading *r, bool *event) {
  *event = is(r, "eventIn") || is(r, "eventOut");
  return *event || is(r, "field") || is(r, "exposedField");
}

/* "exposedField SFVec3f center 0 0 0"; events, and fields of EXTERNPROTO, have no value. */
static tbi_vrml_field *read_declaration(reading *r, bool event, bool has_values) {
  advance(r);
  (void)take_word(r, "the type of a field");
  tbi_vrml_field *field = make_field(r, "the name of a field");
  if (!field) return NULL;
  if (event || !has_values) {
    if (accept(r, "IS")) (void)take_word(r, "the name of an event");
    return field;
  }
  return read_value(r, field) ? field : NULL;
}

static bool read_interface(reading *r, tbi_vrml_proto *proto, bool has_values) {
  tbi_vrml_field **last = &proto->defaults;
  expect(r, "[");
  while (tbi_ok(r->error) && !accept(r, "]")) {
    bool event = false;
    if (!is_declaration(r, &event)) return fail_expected(r, "field, exposedField or an event");
    tbi_vrml_field *field = read_declaration(r, event, has_values);
    if (!field) return false;
    if (event || !has_values) continue;
    *last = field;
    last = &field->next;
  }
  return tbi_ok(r->error);
}

/* The index under which a name is known, after making room for it; -1 after an error. */
static int32_t register_name(reading *r, tbi_names *names, stack *s, const char *name,
                             const void *item) {
  int32_t known = tbi_names_find(names, name);
  if (known >= 0) {
    memcpy((char *)s->items + (size_t)known * sizeof(void *), &item, sizeof(void *));
    return known;
  }
  if (!push(r, s, &item, sizeof(void *))) return -1;
  if (tbi_names_add(names, name, s->count - 1)) return s->count - 1;
  tbi_fail_memory(r->error);
  return -1;
}

static bool skip_route(reading *r) {
  while (tbi_ok(r->error) && r->next.kind == WORD && !is(r, "TO"))
    advance(r);
  return expect(r, "TO") && take_word(r, "an event after TO");
}

static bool read_proto(reading *r, bool is_external);

/* PROTO, EXTERNPROTO and ROUTE may stand between nodes and between fields. */
static bool read_statement(reading *r, bool *found) {
  *found = true;
  if (accept(r, "PROTO")) return read_proto(r, false);
  if (accept(r, "EXTERNPROTO")) return read_proto(r, true);
  if (accept(r, "ROUTE")) return skip_route(r);
  *found = false;
  return true;
}

/* The first node is what the PROTO stands for. */
static bool read_body(reading *r, tbi_vrml_proto *proto) {
  expect(r, "{");
  while (tbi_ok(r->error) && !accept(r, "}")) {
    bool statement = false;
    if (!read_statement(r, &statement)) return false;
    if (statement) continue;
    tbi_vrml_node *node = read_node(r);
    if (!node) return false;
    if (!proto->body) proto->body = node;
  }
  return tbi_ok(r->error);
}

static bool read_proto(reading *r, bool is_external) {
  tabi_place place = place_of(r, &r->next);
  const char *name = take_word(r, "the name of a PROTO");
  if (!name || !count_item(r->vrml, r->error, place)) return false;
  tbi_vrml_proto *proto = keep(r->vrml, sizeof *proto);
  if (!proto) return tbi_fail_memory(r->error);
  if (++r->depth > TBI_VRML_MAX_DEPTH) {
    return tbi_fail_at(r->error, TABI_ERR_PARSE, place, "nesting depth exceeds %d",
                       TBI_VRML_MAX_DEPTH);
  }
  proto->name = name;
  bool good = read_interface(r, proto, !is_external);
  if (good && is_external) {
    tbi_vrml_field url = {.name = name, .place = place};
    good = read_value(r, &url);
  } else if (good) {
    good = read_body(r, proto);
  }
  --r->depth;
  // known only from here on, so that it cannot contain itself
  return good && register_name(r, &r->proto_names, &r->protos, name, proto) >= 0;
}

/* -------------------------------------------------------------------------------- nodes */

static bool read_fields(reading *r, tbi_vrml_node *node) {
  tbi_vrml_field **last = &node->fields;
  expect(r, "{");
  while (tbi_ok(r->error) && !accept(r, "}")) {
    bool statement = false;
    bool event = false;
    if (!read_statement(r, &statement)) return false;
    if (statement) continue;
    tbi_vrml_field *field = NULL;
    if (is_declaration(r, &event)) {
      field = read_declaration(r, event, true);
      if (field && event) continue;
    } else {
      field = make_field(r, "a field or }");
      if (field && !read_value(r, field)) return false;
    }
    if (!field) return false;
    *last = field;
    last = &field->next;
  }
  return tbi_ok(r->error);
}

static const tbi_vrml_proto *find_proto(const reading *r, const char *type) {
  int32_t index = tbi_names_find(&r->proto_names, type);
  return index < 0 ? NULL : ((tbi_vrml_proto *const *)r->protos.items)[index];
}

static tbi_vrml_node *read_use(reading *r) {
  tabi_place place = place_of(r, &r->next);
  const char *name = take_word(r, "a name after USE");
  int32_t index = name ? tbi_names_find(&r->def_names, name) : -1;
  if (name && index < 0) {
    tbi_fail_at(r->error, TABI_ERR_PARSE, place, "USE %.60s: no DEF before it has this name", name);
  }
  return index < 0 ? NULL : ((tbi_vrml_node *const *)r->defs.items)[index];
}

/* USE may stack nodes higher than they nest. */
static bool measure(const reading *r, tbi_vrml_node *node) {
  int32_t highest = 0;
  for (const tbi_vrml_field *f = node->fields; f; f = f->next) {
    for (int32_t i = 0; f->kind == TBI_VRML_NODES && i < f->count; ++i)
      highest = f->of.nodes[i]->height > highest ? f->of.nodes[i]->height : highest;
  }
  node->height = highest + 1;
  if (node->height <= TBI_VRML_MAX_DEPTH) return true;
  return tbi_fail_at(r->error, TABI_ERR_PARSE, node->place, "nesting depth by USE exceeds %d",
                     TBI_VRML_MAX_DEPTH);
}

static tbi_vrml_node *read_new(reading *r, const char *name) {
  tabi_place place = place_of(r, &r->next);
  tbi_vrml_node *node = keep(r->vrml, sizeof *node);
  const char *type = take_word(r, "the type of a node");
  if (!node) tbi_fail_memory(r->error);
  if (!node || !type || !count_item(r->vrml, r->error, place)) return NULL;
  if (!is(r, "{")) {
    tbi_fail_at(r->error, TABI_ERR_PARSE, place, "'%.60s' is no value, and no node without { }",
                type);
    return NULL;
  }
  *node = (tbi_vrml_node){.type = type, .name = name, .place = place, .proto = find_proto(r, type)};
  if (++r->depth > TBI_VRML_MAX_DEPTH) {
    tbi_fail_at(r->error, TABI_ERR_PARSE, place, "nesting depth exceeds %d", TBI_VRML_MAX_DEPTH);
    return NULL;
  }
  bool good = read_fields(r, node) && measure(r, node);
  --r->depth;
  return good ? node : NULL;
}

/* DEF counts from the end of its node on, so that none contains itself. */
static tbi_vrml_node *read_node(reading *r) {
  if (accept(r, "USE")) return read_use(r);
  const char *name = NULL;
  if (accept(r, "DEF")) {
    name = take_word(r, "a name after DEF");
    if (!name) return NULL;
  }
  tbi_vrml_node *node = read_new(r, name);
  if (node && name && register_name(r, &r->def_names, &r->defs, name, node) < 0) return NULL;
  return node;
}

// NOLINTEND(misc-no-recursion)

static bool read_top(reading *r) {
  tbi_vrml_field *top = &r->vrml->top;
  *top = (tbi_vrml_field){
      .name = "", .place = {r->vrml->path, 1},
           .kind = TBI_VRML_NODES
  };
  advance(r);
  while (tbi_ok(r->error) && r->next.kind != END) {
    bool statement = false;
    if (!read_statement(r, &statement)) return false;
    if (!statement && !take_node(r)) return false;
  }
  return finish_field(r, top, 0, 0);
}

/* ----------------------------------------------------------------------------- interface */

/* A byte order mark may come first. */
static const char *after_mark(const char *text, size_t size) {
  return size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? text + 3 : text;
}

bool tbi_vrml_is(const char *text, size_t size) {
  const char *begin = after_mark(text, size);
  size -= (size_t)(begin - text);
  return size >= 5 && memcmp(begin, "#VRML", 5) == 0;
}

static tabi_status check_head(const char *text, size_t size, const char *path, tabi_error *err) {
  tbi_first_error error = {.err = err};
  tabi_place place = {path, 1};
  const char *begin = after_mark(text, size);
  if (size > TBI_VRML_MAX_BYTES) {
    tbi_fail_at(&error, TABI_ERR_FILE, place, "VRML of more than %d MB",
                (int)(TBI_VRML_MAX_BYTES >> 20));
  } else if (!tbi_vrml_is(text, size)) {
    tbi_fail_at(&error, TABI_ERR_PARSE, place, "the first line is not '#VRML V2.0 utf8'");
  } else if (size - (size_t)(begin - text) >= 8 && memcmp(begin, "#VRML V1", 8) == 0) {
    tbi_fail_at(&error, TABI_ERR_PARSE, place,
                "VRML 1.0 describes no robots; convert it to VRML 2.0");
  }
  return error.status;
}

static void free_reading(reading *r) {
  free(r->numbers.items);
  free(r->pointers.items);
  free(r->defs.items);
  free(r->protos.items);
  tbi_names_free(&r->def_names);
  tbi_names_free(&r->proto_names);
}

tabi_status tbi_vrml_parse(const char *text, size_t size, const char *path, tbi_vrml **vrml,
                           tabi_error *err) {
  TBI_ASSERT(text && path && vrml);
  *vrml = NULL;
  tbi_first_error error = {.err = err};
  if (!tbi_take(&error, check_head(text, size, path, err))) return error.status;
  tbi_vrml *made = calloc(1, sizeof *made);
  if (!made) {
    tbi_fail_memory(&error);
    return error.status;
  }
  made->path = path;
  reading r = {.vrml = made, .at = after_mark(text, size), .line = 1, .error = &error};
  r.end = text + size;
  read_top(&r);
  free_reading(&r);
  if (tbi_ok(&error)) {
    *vrml = made;
  } else {
    tbi_vrml_destroy(made);
  }
  return error.status;
}

void tbi_vrml_destroy(tbi_vrml *vrml) {
  if (!vrml) return;
  while (vrml->blocks) {
    block *next = vrml->blocks->next;
    free(vrml->blocks);
    vrml->blocks = next;
  }
  free(vrml);
}

const tbi_vrml_field *tbi_vrml_top(const tbi_vrml *vrml) { return &vrml->top; }

static const tbi_vrml_field *find_field(const tbi_vrml_field *list, const char *name) {
  for (; list; list = list->next) {
    if (strcmp(list->name, name) == 0) return list;
  }
  return NULL;
}

const tbi_vrml_field *tbi_vrml_get(const tbi_vrml_node *node, const char *field) {
  TBI_ASSERT(node && field);
  const tbi_vrml_field *found = find_field(node->fields, field);
  if (!found && node->proto) found = find_field(node->proto->defaults, field);
  return found && found->kind != TBI_VRML_IS ? found : NULL;
}

/* ----------------------------------------------------------------------------- expansion */

typedef struct expansion {
  tbi_vrml *vrml;
  const tbi_vrml_node *instance;
  tbi_first_error *error;
} expansion;

// NOLINTBEGIN(misc-no-recursion): at most TBI_VRML_MAX_DEPTH deep

static tbi_vrml_node *copy_node(const expansion *e, const tbi_vrml_node *from);

static bool copy_nodes(const expansion *e, tbi_vrml_field *field) {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): pointers are meant
  tbi_vrml_node **nodes = keep(e->vrml, (size_t)field->count * sizeof *nodes);
  if (!nodes) return tbi_fail_memory(e->error);
  for (int32_t i = 0; i < field->count; ++i) {
    nodes[i] = copy_node(e, field->of.nodes[i]);
    if (!nodes[i]) return false;
  }
  field->of.nodes = nodes;
  return true;
}

/* A field of the body, or what IS puts there; NULL in *copy if the instance says nothing. */
static bool copy_field(const expansion *e, const tbi_vrml_field *from, tbi_vrml_field **copy) {
  *copy = NULL;
  const tbi_vrml_field *value = from;
  if (from->kind == TBI_VRML_IS) value = tbi_vrml_get(e->instance, from->of.strings[0]);
  if (!value) return true;
  if (!count_item(e->vrml, e->error, from->place)) return false;
  tbi_vrml_field *field = keep_copy(e->vrml, value, sizeof *value);
  if (!field) return tbi_fail_memory(e->error);
  field->name = from->name;
  field->next = NULL;
  *copy = field;
  return from->kind != TBI_VRML_NODES || copy_nodes(e, field);
}

static tbi_vrml_node *copy_node(const expansion *e, const tbi_vrml_node *from) {
  if (!count_item(e->vrml, e->error, from->place)) return NULL;
  tbi_vrml_node *node = keep_copy(e->vrml, from, sizeof *from);
  if (!node) {
    tbi_fail_memory(e->error);
    return NULL;
  }
  tbi_vrml_field **last = &node->fields;
  node->fields = NULL;
  for (const tbi_vrml_field *f = from->fields; f; f = f->next) {
    tbi_vrml_field *field = NULL;
    if (!copy_field(e, f, &field)) return NULL;
    if (!field) continue;
    *last = field;
    last = &field->next;
  }
  return node;
}

// NOLINTEND(misc-no-recursion)

tabi_status tbi_vrml_expand(tbi_vrml *vrml, const tbi_vrml_node *node,
                            const tbi_vrml_node **expanded, tabi_error *err) {
  tbi_first_error error = {.err = err};
  *expanded = NULL;
  if (!node->proto || !node->proto->body) return TABI_OK;
  const expansion e = {vrml, node, &error};
  *expanded = copy_node(&e, node->proto->body);
  return error.status;
}
