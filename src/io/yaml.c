/* yaml.c - libfyaml's events become a tree.  Nothing recurs: the open lists and maps are the
 * parents of the node being filled.
 *
 * Without memory libfyaml stops, complains of the text or takes it for empty; only errno tells, so
 * that it is cleared before every call and looked at where something is missing. */
#include "io/yaml.h"

#include "base/array.h"
#include "base/assertion.h"
#include "base/names.h"
#include "base/text.h"
#include "io/first_error.h"
#include "io/suggest.h"

#include <errno.h>
#include <libfyaml.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PIECES           30
#define TBI_YAML_ALIAS_DEPTH 64

struct tbi_yaml {
  tbi_yaml_node *root;
  tbi_yaml_node *newest; /* of all nodes, for freeing */
  tbi_text_pool text;
  int32_t count;
  const char *path;
};

/* The state of the parser. */
typedef struct reading {
  tbi_yaml *yaml;
  const char *text;    /* all of it */
  tbi_yaml_node *open; /* the innermost list or map that is not closed */
  tbi_yaml_node *root;
  const char *key; /* read, and waiting for its value */
  tabi_place key_place;
  int32_t key_column;
  int32_t depth, documents;
  bool ended;         /* the whole text was read */
  bool aliases;       /* are allowed */
  const char *anchor; /* read, and waiting for its value */
  tbi_names anchors;  /* by index of: */
  tbi_yaml_node **anchored;
  int32_t nanchor, cap_anchor;
  tbi_first_error *error;
} reading;

static tabi_place place_at(const reading *r, struct fy_token *token, int32_t *column) {
  const struct fy_mark *mark = token ? fy_token_start_mark(token) : NULL;
  *column = mark ? mark->column + 1 : 1;
  return (tabi_place){r->yaml->path, mark ? mark->line + 1 : 1};
}

/* The place of a node is that of the key that waits for it, or of the value itself. */
static tbi_yaml_node *make_node(reading *r, tbi_yaml_kind kind, struct fy_token *token) {
  tbi_yaml_node *node = calloc(1, sizeof *node);
  if (!node) return NULL;
  node->kind = kind;
  node->text = "";
  node->place = place_at(r, token, &node->column);
  node->made = r->yaml->newest;
  r->yaml->newest = node;
  ++r->yaml->count;
  if (r->key) {
    node->key = r->key;
    node->place = r->key_place;
    node->column = r->key_column;
    r->key = NULL;
  }
  return node;
}

static int32_t max_depth(const reading *r) {
  return r->aliases ? TBI_YAML_ALIAS_DEPTH : TBI_YAML_MAX_DEPTH;
}

/* The value that an anchor precedes; a second one of the name replaces the first. */
static bool keep_anchor(reading *r, tbi_yaml_node *node) {
  const char *name = r->anchor;
  if (!name) return true;
  r->anchor = NULL;
  int32_t known = tbi_names_find(&r->anchors, name);
  if (known >= 0) {
    r->anchored[known] = node;
    return true;
  }
  void *items = r->anchored;
  bool room = tbi_array_reserve(&items, &r->cap_anchor, r->nanchor, 1, sizeof(void *));
  r->anchored = items;
  if (!room || !tbi_names_add(&r->anchors, name, r->nanchor)) return tbi_fail_memory(r->error);
  r->anchored[r->nanchor++] = node;
  return true;
}

void tbi_yaml_append(tbi_yaml_node *parent, tbi_yaml_node *node) {
  TBI_ASSERT(parent->kind != TBI_YAML_SCALAR && !node->next);
  node->parent = parent;
  if (parent->last) {
    parent->last->next = node;
  } else {
    parent->first = node;
  }
  parent->last = node;
  ++parent->count;
}

/* The token's text in the pool, with a zero at its end; "" without a token.  It may become a name,
 * which is shown: escapes for terminals are not. */
static const char *keep_text(reading *r, struct fy_token *token) {
  if (!token) return "";
  errno = 0;
  const char *text = fy_token_get_text0(token);
  if (text && text[0] == '\0' && errno == ENOMEM) text = NULL;
  const char *kept = text ? tbi_text_add(&r->yaml->text, text) : NULL;
  if (kept) tbi_text_hide_controls((char *)kept, '?');
  return kept;
}

tbi_yaml_node *tbi_yaml_child(const tbi_yaml_node *map, const char *key) {
  TBI_ASSERT(map && key);
  if (map->kind != TBI_YAML_MAP) return NULL;
  for (tbi_yaml_node *node = map->first; node; node = node->next) {
    if (strcmp(node->key, key) == 0) return node;
  }
  return NULL;
}

static bool wants_key(const reading *r) {
  return r->open && r->open->kind == TBI_YAML_MAP && !r->key;
}

/* libfyaml leaks what it needs to put texts together from more than 64 pieces, which begin at
 * escapes, quotes and line ends. */
static bool check_pieces(const reading *r, struct fy_token *token) {
  const struct fy_mark *start = token ? fy_token_start_mark(token) : NULL;
  const struct fy_mark *end = token ? fy_token_end_mark(token) : NULL;
  int32_t pieces = 0;
  for (size_t at = start && end ? start->input_pos : 0; end && at < end->input_pos; ++at) {
    char c = r->text[at];
    pieces += c == '\'' || c == '\\' || c == '\n' || c == '\r';
  }
  if (pieces <= MAX_PIECES) return true;
  int32_t column = 1;
  return tbi_fail_at(r->error, TABI_ERR_PARSE, place_at(r, token, &column),
                     "a text with more than %d quotes, escapes or line ends", MAX_PIECES);
}

static bool take_key(reading *r, struct fy_token *token) {
  TBI_ASSERT(wants_key(r));
  int32_t column = 1;
  tabi_place place = place_at(r, token, &column);
  const char *key = keep_text(r, token);
  if (!key) return tbi_fail_memory(r->error);
  const tbi_yaml_node *first = tbi_yaml_child(r->open, key);
  if (first) {
    return tbi_fail_at(r->error, TABI_ERR_PARSE, place, "duplicate key '%.60s' (line %d)", key,
                       first->place.line);
  }
  if (r->open->count == TBI_YAML_MAX_KEYS) {
    return tbi_fail_at(r->error, TABI_ERR_PARSE, place, "more than %d keys in one map",
                       TBI_YAML_MAX_KEYS);
  }
  r->key = key;
  r->key_place = place;
  r->key_column = column;
  return true;
}

static bool take_node(reading *r, tbi_yaml_kind kind, struct fy_token *token) {
  tbi_yaml_node *node = make_node(r, kind, token);
  if (!node) return tbi_fail_memory(r->error);
  if (r->yaml->count > TBI_YAML_MAX_NODES) {
    return tbi_fail_at(r->error, TABI_ERR_PARSE, node->place, "more than %d values",
                       TBI_YAML_MAX_NODES);
  }
  if (r->open) {
    tbi_yaml_append(r->open, node);
  } else {
    r->root = node;
  }
  if (kind == TBI_YAML_SCALAR) {
    node->text = keep_text(r, token);
    return node->text ? keep_anchor(r, node) : tbi_fail_memory(r->error);
  }
  r->open = node;
  if (!keep_anchor(r, node)) return false;
  if (++r->depth <= max_depth(r)) return true;
  return tbi_fail_at(r->error, TABI_ERR_PARSE, node->place,
                     "nesting depth exceeds %d; a scene needs no more than 5", max_depth(r));
}

static bool open_node(reading *r, tbi_yaml_kind kind, struct fy_token *token) {
  if (!wants_key(r)) return take_node(r, kind, token);
  int32_t column = 1;
  return tbi_fail_at(r->error, TABI_ERR_PARSE, place_at(r, token, &column),
                     "a list or map cannot be a key");
}

/* What a map takes from another one, unless it says it itself. */
static void merge_map(tbi_yaml_node *map, const tbi_yaml_node *from) {
  tbi_yaml_node *node = from->kind == TBI_YAML_MAP ? from->first : NULL;
  while (node) {
    tbi_yaml_node *next = node->next;
    if (map->count < TBI_YAML_MAX_KEYS && !tbi_yaml_child(map, node->key)) {
      node->next = NULL;
      tbi_yaml_append(map, node);
    }
    node = next;
  }
}

static void merge(tbi_yaml_node *map) {
  tbi_yaml_node *from = tbi_yaml_child(map, "<<");
  if (!from) return;
  tbi_yaml_remove(from);
  if (from->kind == TBI_YAML_MAP) merge_map(map, from);
  const tbi_yaml_node *item = from->kind == TBI_YAML_LIST ? from->first : NULL;
  for (; item; item = item->next)
    merge_map(map, item);
}

static void close_node(reading *r) {
  TBI_ASSERT(r->open);
  if (r->aliases && r->open->kind == TBI_YAML_MAP) merge(r->open);
  r->open = r->open->parent;
  --r->depth;
}

static bool refuse(const reading *r, struct fy_token *token, const char *what) {
  int32_t column = 1;
  return tbi_fail_at(r->error, TABI_ERR_PARSE, place_at(r, token, &column), "%s not allowed", what);
}

/* Anchors and tags may precede every kind of value. */
static bool check_properties(reading *r, struct fy_token *anchor, struct fy_token *tag) {
  if (r->aliases) {
    r->anchor = anchor && !wants_key(r) ? keep_text(r, anchor) : NULL;
    return !anchor || wants_key(r) || r->anchor || tbi_fail_memory(r->error);
  }
  if (anchor) return refuse(r, anchor, "anchors");
  return tag ? refuse(r, tag, "tags") : true;
}

/* A copy of one node, in what is open; without a key that waits, the key and place are its own. */
static bool copy_node(reading *r, const tbi_yaml_node *from) {
  tbi_yaml_node *above = r->open;
  if (!r->key && from->key && above && above->kind == TBI_YAML_MAP) {
    r->key = from->key;
    r->key_place = from->place;
    r->key_column = from->column;
  }
  if (!take_node(r, from->kind, NULL)) return false;
  tbi_yaml_node *copy = above ? above->last : r->root;
  copy->text = from->text;
  if (copy->key) return true;
  copy->place = from->place;
  copy->column = from->column;
  return true;
}

/* A copy of a value and all below it.  take_node limits the depth. */
static bool copy_value(reading *r, const tbi_yaml_node *from) {
  const tbi_yaml_node *next[TBI_YAML_ALIAS_DEPTH + 1]; /* to be copied, at every depth */
  int32_t depth = 0;
  if (!copy_node(r, from)) return false;
  if (from->kind == TBI_YAML_SCALAR) return true;
  next[0] = from->first;
  while (depth >= 0) {
    const tbi_yaml_node *node = next[depth];
    if (!node) {
      r->open = r->open->parent;
      --r->depth;
      --depth;
      continue;
    }
    next[depth] = node->next;
    if (!copy_node(r, node)) return false;
    if (node->kind != TBI_YAML_SCALAR) next[++depth] = node->first;
  }
  return true;
}

static bool take_alias(reading *r, struct fy_token *token) {
  if (!r->aliases) return refuse(r, token, "aliases and anchors");
  if (wants_key(r)) return refuse(r, token, "aliases as keys");
  const char *name = keep_text(r, token);
  if (!name) return tbi_fail_memory(r->error);
  int32_t found = tbi_names_find(&r->anchors, name);
  const tbi_yaml_node *from = found >= 0 ? r->anchored[found] : NULL;
  int32_t column = 1;
  for (const tbi_yaml_node *n = r->open; n && from; n = n->parent) {
    if (n == from) from = NULL; // it would contain itself
  }
  if (from) return copy_value(r, from);
  return tbi_fail_at(r->error, TABI_ERR_PARSE, place_at(r, token, &column),
                     "alias '%.60s': no anchor before it has this name", name);
}

static bool take_scalar(reading *r, struct fy_token *value) {
  if (!check_pieces(r, value)) return false;
  return wants_key(r) ? take_key(r, value) : take_node(r, TBI_YAML_SCALAR, value);
}

static bool take_event(reading *r, struct fy_event *event) {
  switch (event->type) {
  case FYET_DOCUMENT_START:
    if (r->documents++ == 0) return true;
    return refuse(r, event->document_start.document_start, "several documents in one file are");
  case FYET_ALIAS:
    return take_alias(r, event->alias.anchor);
  case FYET_SCALAR:
    return check_properties(r, event->scalar.anchor, event->scalar.tag) &&
           take_scalar(r, event->scalar.value);
  case FYET_SEQUENCE_START:
    return check_properties(r, event->sequence_start.anchor, event->sequence_start.tag) &&
           open_node(r, TBI_YAML_LIST, event->sequence_start.sequence_start);
  case FYET_MAPPING_START:
    return check_properties(r, event->mapping_start.anchor, event->mapping_start.tag) &&
           open_node(r, TBI_YAML_MAP, event->mapping_start.mapping_start);
  case FYET_SEQUENCE_END:
  case FYET_MAPPING_END:
    close_node(r);
    return true;
  case FYET_STREAM_END:
    r->ended = true;
    return true;
  default:
    return true;
  }
}

/* libfyaml's first complaint. */
typedef struct complaint {
  char text[256]; /* "" while there is none */
  int32_t line;
} complaint;

/* libfyaml says "<memory>:line:column: error: reason", and then shows the text.  Its own collecting
 * of errors leaks. */
static void hear(struct fy_diag *diag, void *user, const char *text, size_t size) {
  (void)diag;
  complaint *c = user;
  static const char mark[] = ": error: ";
  char said[512];
  if (c->text[0] != '\0' || size == 0) return;
  if (size >= sizeof said) size = sizeof said - 1;
  memcpy(said, text, size);
  said[size] = '\0';
  char *reason = strstr(said, mark);
  const char *place = strchr(said, '>');
  if (!reason || !place || place > reason) return;
  reason += sizeof mark - 1;
  reason[strcspn(reason, "\n")] = '\0';
  (void)snprintf(c->text, sizeof c->text, "%.200s", reason);
  c->line = place[1] == ':' ? (int32_t)strtol(place + 2, NULL, 10) : 1;
}

static bool fail_syntax(const reading *r, const complaint *c, bool starved) {
  if (starved) return tbi_fail_memory(r->error);
  return tbi_fail_at(r->error, TABI_ERR_PARSE,
                     (tabi_place){r->yaml->path, c->line > 0 ? c->line : 1},
                     "YAML not well-formed: %s", c->text[0] ? c->text : "cannot be read");
}

static bool read_events(reading *r, struct fy_parser *parser, const complaint *c) {
  bool starved = false;
  while (tbi_ok(r->error)) {
    errno = 0;
    struct fy_event *event = fy_parser_parse(parser);
    starved = errno == ENOMEM;
    if (!event) break;
    (void)take_event(r, event);
    fy_parser_event_free(parser, event);
  }
  if (fy_parser_get_stream_error(parser) || r->open || !r->ended) return fail_syntax(r, c, starved);
  if (r->root) return tbi_ok(r->error);
  return tbi_fail_at(r->error, TABI_ERR_PARSE, (tabi_place){r->yaml->path, 1}, "file is empty");
}

/* libfyaml 0.7 uses the small block that stands for a text without a look whether it got one:
 * there has to be memory for it. */
static bool set_text(struct fy_parser *parser, const char *text, size_t size) {
  enum { PLENTY = 16384 };
  void *block = malloc(PLENTY);
  if (!block) return false;
  free(block);
  return fy_parser_set_string(parser, text, size) == 0;
}

/* The text with spaces for tabs: libfyaml 0.7 writes beyond its memory when it complains of a line
 * with many of them, which it counts as one byte and shows as eight. */
static char *without_tabs(const char *text, size_t size) {
  char *copy = malloc(size + 1);
  if (!copy) return NULL;
  memcpy(copy, text, size);
  for (char *tab = memchr(copy, '\t', size); tab;
       tab = memchr(tab, '\t', size - (size_t)(tab - copy)))
    *tab = ' ';
  return copy;
}

static void parse(reading *r, const char *text, size_t size) {
  complaint c = {{0}, 0};
  struct fy_diag_cfg heard;
  fy_diag_cfg_default(&heard);
  heard.fp = NULL;
  heard.output_fn = hear;
  heard.user = &c;
  heard.colorize = false;
  struct fy_diag *diag = fy_diag_create(&heard);
  struct fy_parse_cfg config = {
      .flags = FYPCF_QUIET | FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE | FYPCF_DISABLE_MMAP_OPT,
      .diag = diag,
  };
  // other readers do not mind where a list of numbers closes
  if (r->aliases) config.flags |= FYPCF_SLOPPY_FLOW_INDENTATION;
  char *spaced = without_tabs(text, size);
  struct fy_parser *parser = diag && spaced ? fy_parser_create(&config) : NULL;
  if (parser && set_text(parser, spaced, size)) {
    (void)read_events(r, parser, &c);
  } else {
    (void)tbi_fail_memory(r->error);
  }
  fy_parser_destroy(parser);
  free(spaced);
  if (diag) fy_diag_unref(diag);
}

/* How many bytes the character at text takes in UTF-8, 0 if it is none or a control character. */
static size_t character_size(const unsigned char *text, size_t left) {
  unsigned char first = text[0];
  if (first < 0x80) {
    return first >= ' ' || first == '\n' || first == '\r' || first == '\t' ? 1 : 0;
  }
  size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || left < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((text[i] & 0xc0) != 0x80) return 0;
  }
  return size;
}

/* A key behind a question mark, "? key". */
static bool is_marked_key(const char *text, size_t left) {
  return text[0] == '?' &&
         (left == 1 || text[1] == ' ' || text[1] == '\t' || text[1] == '\n' || text[1] == '\r');
}

/* The start of a list's item. */
static bool is_dash(const char *text, size_t left) {
  return text[0] == '-' && left > 1 && (text[1] == ' ' || text[1] == '\t');
}

/* libfyaml stops in silence at bytes that are no text, loops in some directives and crashes at some
 * keys behind question marks, so these are found here. */
static bool check_text(const reading *r, const char *text, size_t size) {
  const char *path = r->yaml->path;
  int32_t line = 1;
  bool indentation = true;
  bool before_key = true; /* nothing but spaces and dashes in this line so far */
  for (size_t at = 0; at < size;) {
    size_t n = character_size((const unsigned char *)text + at, size - at);
    if (n == 0) {
      return tbi_fail_at(r->error, TABI_ERR_PARSE, (tabi_place){path, line},
                         "not a YAML text file (byte 0x%02x at offset %zu); save as UTF-8",
                         (unsigned)(unsigned char)text[at], at);
    }
    if (indentation && text[at] == '\t') {
      return tbi_fail_at(r->error, TABI_ERR_PARSE, (tabi_place){path, line},
                         "tabs are not allowed for indentation; use spaces");
    }
    if (indentation && text[at] == '%') {
      return tbi_fail_at(r->error, TABI_ERR_PARSE, (tabi_place){path, line},
                         "directives not allowed");
    }
    if (before_key && is_marked_key(text + at, size - at)) {
      return tbi_fail_at(r->error, TABI_ERR_PARSE, (tabi_place){path, line},
                         "keys behind '?' not allowed; write 'key: value'");
    }
    bool blank = text[at] == ' ' || text[at] == '\t';
    bool ends = text[at] == '\n' || text[at] == '\r'; /* either ends a line */
    before_key = ends || (before_key && (blank || is_dash(text + at, size - at)));
    indentation = ends || (indentation && text[at] == ' ');
    line += text[at] == '\n';
    at += n;
  }
  return true;
}

/* A tree in the same memory; NULL after an error. */
static tbi_yaml_node *parse_into(tbi_yaml *yaml, const char *text, size_t size, bool aliases,
                                 tbi_first_error *error) {
  reading r = {.yaml = yaml, .text = text, .aliases = aliases, .error = error};
  if (check_text(&r, text, size)) parse(&r, text, size);
  tbi_names_free(&r.anchors);
  free(r.anchored);
  return tbi_ok(error) ? r.root : NULL;
}

/* Texts that are refused at their first look. */
static bool check_begin(tbi_first_error *error, const char *text, size_t size, const char *path) {
  if (size > TBI_YAML_MAX_BYTES) {
    return tbi_fail_at(error, TABI_ERR_FILE, (tabi_place){path, 1}, "file is %zu MB, limit %zu MB",
                       size / 1024 / 1024 + 1, TBI_YAML_MAX_BYTES / 1024 / 1024);
  }
  // a robot in the place of the scene that names it
  if (size > 0 && text[0] == '<') {
    return tbi_fail_at(error, TABI_ERR_PARSE, (tabi_place){path, 1},
                       "XML instead of YAML; a scene names a robot's file by 'model: FILE'");
  }
  return true;
}

static tabi_status parse_new(const char *text, size_t size, const char *path, bool aliases,
                             tbi_yaml **yaml, tabi_error *err) {
  tbi_first_error error = {.err = err};
  if (!check_begin(&error, text, size, path)) return error.status;
  tbi_yaml *made = calloc(1, sizeof *made);
  if (made) made->path = tbi_text_add(&made->text, path);
  if (made && made->path) {
    made->root = parse_into(made, text, size, aliases, &error);
  } else {
    (void)tbi_fail_memory(&error);
  }
  if (tbi_ok(&error)) {
    *yaml = made;
  } else {
    tbi_yaml_destroy(made);
  }
  return error.status;
}

tabi_status tbi_yaml_parse(const char *text, size_t size, const char *path, tbi_yaml **yaml,
                           tabi_error *err) {
  return parse_new(text, size, path, false, yaml, err);
}

tabi_status tbi_yaml_parse_aliases(const char *text, size_t size, const char *path, tbi_yaml **yaml,
                                   tabi_error *err) {
  return parse_new(text, size, path, true, yaml, err);
}

void tbi_yaml_destroy(tbi_yaml *yaml) {
  if (!yaml) return;
  while (yaml->newest) {
    tbi_yaml_node *older = yaml->newest->made;
    free(yaml->newest);
    yaml->newest = older;
  }
  tbi_text_free(&yaml->text);
  free(yaml);
}

tbi_yaml_node *tbi_yaml_root(tbi_yaml *yaml) { return yaml->root; }

void tbi_yaml_remove(tbi_yaml_node *node) {
  tbi_yaml_node *parent = node->parent;
  TBI_ASSERT(parent && parent->count > 0);
  tbi_yaml_node *before = NULL;
  for (tbi_yaml_node *at = parent->first; at != node; at = at->next) {
    TBI_ASSERT(at);
    before = at;
  }
  if (before) {
    before->next = node->next;
  } else {
    parent->first = node->next;
  }
  if (parent->last == node) parent->last = before;
  --parent->count;
}

/* One assignment on its way down the tree. */
typedef struct assigning {
  tbi_yaml *yaml;
  const char *label; /* the assignment itself, which messages name */
  tbi_first_error *error;
} assigning;

/* Gives a node another value; its key and its order among its siblings stay. */
static void replace(tbi_yaml_node *node, const tbi_yaml_node *value) {
  node->kind = value->kind;
  node->text = value->text;
  node->place = value->place;
  node->column = value->column;
  node->count = value->count;
  node->first = value->first;
  node->last = value->last;
  for (tbi_yaml_node *child = node->first; child; child = child->next)
    child->parent = node;
}

static tbi_yaml_node *add_child(const assigning *a, tbi_yaml_node *map, const char *key) {
  reading r = {
      .yaml = a->yaml, .key_place = {a->label, 1},
           .key_column = 1
  };
  r.key = tbi_text_add(&a->yaml->text, key);
  tbi_yaml_node *node = r.key ? make_node(&r, TBI_YAML_MAP, NULL) : NULL;
  if (node) tbi_yaml_append(map, node);
  return node;
}

static tbi_yaml_node *find_item(const tbi_yaml_node *list, const char *name) {
  int32_t index = 0;
  char number[16];
  for (tbi_yaml_node *item = list->first; item; item = item->next, ++index) {
    const tbi_yaml_node *own = tbi_yaml_child(item, "name");
    (void)snprintf(number, sizeof number, "%d", index);
    if ((own && strcmp(own->text, name) == 0) || strcmp(number, name) == 0) return item;
  }
  return NULL;
}

static bool fail_item(const assigning *a, const tbi_yaml_node *list, const char *name) {
  tbi_suggestion nearest = tbi_suggest_begin(name);
  for (const tbi_yaml_node *item = list->first; item; item = item->next) {
    const tbi_yaml_node *own = tbi_yaml_child(item, "name");
    if (own) tbi_suggest_add(&nearest, own->text);
  }
  char hint[TBI_HINT_SIZE];
  return tbi_fail_at(a->error, TABI_ERR_PARSE, (tabi_place){a->label, 1},
                     "nothing is called '%.60s' in '%.60s'%s", name,
                     list->key ? list->key : "the list", tbi_suggest_hint(&nearest, hint));
}

/* One step down; adds what a map does not have yet. */
static bool descend(const assigning *a, tbi_yaml_node **node, const char *name) {
  tbi_yaml_node *next = NULL;
  if ((*node)->kind == TBI_YAML_MAP) {
    next = tbi_yaml_child(*node, name);
    if (!next) next = add_child(a, *node, name);
    if (!next) return tbi_fail_memory(a->error);
  } else if ((*node)->kind == TBI_YAML_LIST) {
    next = find_item(*node, name);
    if (!next) return fail_item(a, *node, name);
  } else {
    return tbi_fail_at(a->error, TABI_ERR_PARSE, (tabi_place){a->label, 1},
                       "'%.60s' is a value and holds no '%.60s'",
                       (*node)->key ? (*node)->key : "the scene", name);
  }
  *node = next;
  return true;
}

/* The node at a path, which is cut at its dots on the way; NULL after an error. */
static tbi_yaml_node *node_at(const assigning *a, char *path) {
  tbi_yaml_node *node = a->yaml->root;
  for (char *name = path; name && tbi_ok(a->error);) {
    char *dot = strchr(name, '.');
    if (dot) *dot = '\0';
    (void)descend(a, &node, name);
    name = dot ? dot + 1 : NULL;
  }
  return tbi_ok(a->error) ? node : NULL;
}

static void assign(const assigning *a, char *path, const char *value) {
  // the value is read as a text of its own, which the label names
  const char *scene = a->yaml->path;
  a->yaml->path = a->label;
  const tbi_yaml_node *root = parse_into(a->yaml, value, strlen(value), false, a->error);
  a->yaml->path = scene;
  tbi_yaml_node *node = node_at(a, path);
  if (node) replace(node, root);
}

static bool check_assignment(const assigning *a, const char *assignment, const char *equals) {
  const tabi_place place = {a->label, 1};
  if (!a->label) return tbi_fail_memory(a->error);
  if (!equals || equals == assignment) {
    return tbi_fail_at(a->error, TABI_ERR_ARGUMENT, place,
                       "expected path=value, as in bodies.box.mass=3");
  }
  if (equals[1] != '\0') return true;
  return tbi_fail_at(a->error, TABI_ERR_ARGUMENT, place, "no value after the '='");
}

tabi_status tbi_yaml_assign(tbi_yaml *yaml, const char *assignment, tabi_error *err) {
  tbi_first_error error = {.err = err};
  const assigning a = {
      .yaml = yaml, .label = tbi_text_add(&yaml->text, assignment), .error = &error};
  const char *equals = strchr(assignment, '=');
  if (!check_assignment(&a, assignment, equals)) return error.status;
  size_t length = (size_t)(equals - assignment);
  char *path = malloc(length + 1);
  if (path) {
    memcpy(path, assignment, length);
    path[length] = '\0';
    assign(&a, path, equals + 1);
  } else {
    (void)tbi_fail_memory(&error);
  }
  free(path);
  return error.status;
}
