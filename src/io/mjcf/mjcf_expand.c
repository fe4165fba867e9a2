/* mjcf_expand.c - meta-elements of the tree of bodies, taken out before it is read.
 *
 *   <frame>      its contents stand in its place; each keeps the frame as its parent, so that poses
 *                and classes are found by climbing (mjcf_frame.c)
 *   <replicate>  count frames with copies, each moved by offset in the frame before, and turned by
 *                so many times the angles of euler; names get a number, and what refers to them
 *                elsewhere is copied likewise
 *   <attach>     a body or the world of another model, mjcf_attach.c
 *
 * What is inside is expanded before what is around it. */
#include "io/mjcf/mjcf_reader.h"

#include <stdio.h>
#include <string.h>

#define MAX_COPIES 200000 /* elements */
#define MAX_COUNT  100000 /* replicas of one element */

static bool is_tag(const tbi_xml_node *node, const char *name) {
  return strcmp(node->name, name) == 0;
}

tbi_xml_node *tbi_mjcf_copy(tbi_mjcf *reader, const tbi_xml_node *node) {
  if (!tbi_ok(&reader->error)) return NULL;
  tbi_xml_node *copy = tbi_xml_copy(reader->copies, node, &reader->copy_room);
  if (copy) return copy;
  if (reader->copy_room > 0) {
    tbi_fail_memory(&reader->error);
  } else {
    tbi_fail_at(&reader->error, TABI_ERR_MODEL, node->place,
                "more than %d copies of elements by replicate and attach", MAX_COPIES);
  }
  return NULL;
}

void tbi_mjcf_set(tbi_mjcf *reader, tbi_xml_node *node, const char *attribute, const char *value) {
  if (!tbi_xml_set(reader->copies, node, attribute, value)) tbi_fail_memory(&reader->error);
}

/* An element of our own. */
tbi_xml_node *tbi_mjcf_make(tbi_mjcf *reader, const char *name, tabi_place place) {
  const tbi_xml_node plain = {.name = name, .text = "", .place = place, .used = true};
  return tbi_mjcf_copy(reader, &plain);
}

void tbi_mjcf_replace(tbi_xml_node *parent, tbi_xml_node *node, tbi_xml_node *first,
                      tbi_xml_node *last) {
  tbi_xml_node *before = NULL;
  for (tbi_xml_node *child = parent->first; child != node; child = child->next)
    before = child;
  tbi_xml_node *behind = node->next;
  if (last) last->next = behind;
  tbi_xml_node *to = first ? first : behind;
  if (before) {
    before->next = to;
  } else {
    parent->first = to;
  }
  if (!behind) parent->last = last ? last : before;
}

static void set_numbers(tbi_mjcf *reader, tbi_xml_node *node, const char *attribute,
                        const double *values, int count) {
  char text[160] = "";
  for (int i = 0; i < count; ++i) {
    char number[40];
    tbi_mjcf_write_number(values[i], number, sizeof number);
    size_t used = strlen(text);
    (void)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? " " : "", number);
  }
  tbi_mjcf_set(reader, node, attribute, text);
}

/* One replica: a frame at the pose with a renamed copy of the contents. */
static tbi_xml_node *make_replica(const tbi_mjcf_item *item, v3 pos, q4 rot, const char *suffix) {
  tbi_mjcf *reader = item->reader;
  tbi_xml_node *frame = tbi_mjcf_make(reader, "frame", item->node->place);
  if (!frame) return NULL;
  double numbers[4];
  v3_store(pos, numbers);
  set_numbers(reader, frame, "pos", numbers, 3);
  q_store(rot, numbers);
  set_numbers(reader, frame, "quat", numbers, 4);
  for (tbi_xml_node *child = item->node->first; child; child = child->next) {
    tbi_xml_node *copy = tbi_mjcf_copy(reader, child);
    if (!copy) return NULL;
    tbi_xml_append(frame, copy);
  }
  tbi_mjcf_rename(reader, frame, "", suffix);
  return frame;
}

static int32_t count_of(const tbi_mjcf_item *item) {
  double count = 0;
  (void)tbi_mjcf_number(item, "count", &count);
  if (count >= 1 && count <= MAX_COUNT && count == (int32_t)count) return (int32_t)count;
  tbi_mjcf_fail(item, "count %g must be an integer from 1 to %d", count, MAX_COUNT);
  return 0;
}

static void replicate(tbi_mjcf *reader, tbi_xml_node *node) {
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, NULL, 0);
  double offset[3] = {0, 0, 0};
  (void)tbi_mjcf_numbers(&item, "offset", 3, 3, offset);
  const char *separator = tbi_mjcf_text(&item, "sep", NULL);
  int32_t count = count_of(&item);
  int digits = snprintf(NULL, 0, "%d", (int)count);
  v3 pos = v3_zero();
  q4 rot = q_identity();
  tbi_xml_node all = {.name = "replicate"};
  tbi_mjcf_begin_references(reader, node);
  for (int32_t i = 0; i < count && tbi_ok(&reader->error); ++i) {
    char suffix[80];
    (void)snprintf(suffix, sizeof suffix, "%.40s%0*d", separator ? separator : "", digits, (int)i);
    tbi_xml_node *replica = make_replica(&item, pos, rot, suffix);
    if (replica) tbi_xml_append(&all, replica);
    tbi_mjcf_copy_references(reader, suffix);
    pos = v3_add(pos, tbi_mjcf_turn(rot, v3_load(offset)));
    rot = tbi_mjcf_euler(&item, i + 1);
  }
  tbi_mjcf_end_references(reader);
  for (tbi_xml_node *child = all.first; child; child = child->next)
    child->parent = node->parent;
  tbi_mjcf_replace(node->parent, node, all.first, all.last);
}

static void expand_one(tbi_mjcf *reader, tbi_xml_node *node) {
  if (is_tag(node, "replicate")) {
    node->used = true;
    replicate(reader, node);
  } else if (is_tag(node, "attach")) {
    node->used = true;
    tbi_mjcf_attach(reader, node);
  }
}

/* Replicas and attachments below a body, what is deepest first. */
// NOLINTNEXTLINE(misc-no-recursion): as deep as the XML, TBI_XML_MAX_DEPTH
static void expand_in(tbi_mjcf *reader, tbi_xml_node *node) {
  tbi_xml_node *next = NULL;
  for (tbi_xml_node *child = node->first; child && tbi_ok(&reader->error); child = next) {
    next = child->next;
    if (child->first) expand_in(reader, child);
    expand_one(reader, child);
  }
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the XML, TBI_XML_MAX_DEPTH
static void dissolve_frames(tbi_mjcf *reader, tbi_xml_node *node) {
  tbi_xml_node *child = node->first;
  while (child) {
    tbi_xml_node *next = child->next;
    if (is_tag(child, "frame")) {
      child->used = true;
      next = child->first ? child->first : next;
      if (tbi_xml_get(child, "scale") || tbi_xml_get(child, "massscale")) {
        tbi_warn(reader->def, child->place, "scale and massscale of a frame are ignored");
      }
      // the frame keeps its next: what climbs from the last child goes on behind it
      tbi_mjcf_replace(node, child, child->first, child->last);
    } else if (is_tag(child, "body")) {
      dissolve_frames(reader, child);
    }
    child = next;
  }
}

/* Another model, so that its own attachments find their models in it. */
void tbi_mjcf_expand_model(tbi_mjcf *reader, tbi_xml_node *root) {
  tbi_xml_node *outer = reader->root;
  tbi_names renamed = reader->renamed;
  reader->root = root;
  reader->renamed = (tbi_names){0};
  tbi_xml_node *world = tbi_xml_child(root, "worldbody");
  for (; world && tbi_ok(&reader->error); world = tbi_xml_next(world))
    expand_in(reader, world);
  reader->root = outer;
  tbi_names_free(&reader->renamed);
  reader->renamed = renamed;
}

void tbi_mjcf_expand(tbi_mjcf *reader) {
  reader->copies = tbi_xml_create();
  reader->copy_room = MAX_COPIES;
  if (!reader->copies) tbi_fail_memory(&reader->error);
  tbi_xml_node *world = tbi_xml_child(reader->root, "worldbody");
  for (tbi_xml_node *w = world; w && tbi_ok(&reader->error); w = tbi_xml_next(w))
    expand_in(reader, w);
  for (tbi_xml_node *w = world; w && tbi_ok(&reader->error); w = tbi_xml_next(w))
    dissolve_frames(reader, w);
}
