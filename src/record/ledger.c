/* ledger.c - the ledger of slip: when bodies stuck and when they slipped, from samples.
 *
 * In every sample the contacts of a body with other trees are seen as one: it slips when the points
 * that slip carry more than half of the normal force, and its distance is that of the points' mean,
 * weighted by that force.  A sample stands for the time since the one before it.
 *
 * What lasts one sample only is no change: a contact begins an entry at once, but a body that then
 * sticks and slips in turn, or is off the ground for a moment, changes its entry when the second
 * sample in succession says so.  The sample that was waiting then belongs to the new entry;
 * otherwise to the old. */
#include "base/assertion.h"
#include "base/error.h"
#include "tabi/tabi_record.h"

#include <math.h>
#include <stdlib.h>

/* The contacts of a body in a sample, summed. */
typedef struct sum {
  double normal;   /* N */
  double weight;   /* N, sum of |normal force| */
  double slipping; /* N, the part of weight at points that slip */
  double slip[3];  /* N m/s, velocity along the surface weighted by |normal force| */
  double power;    /* W */
} sum;

/* A body with its open entry, and a sample of another status that waits. */
typedef struct watch {
  int32_t link; /* that names the body, or TABI_NONE: fixed joints make one body of several links */
  int32_t tree; /* its first body */
  int32_t open; /* index of the entry, or -1 */
  int32_t samples;
  bool waits;
  tabi_ledger_entry other;  /* what waits; separating: off the ground */
  tabi_ledger_entry before; /* the entry without what waits */
  sum sum;
} watch;

struct tabi_ledger {
  int32_t *link_body;
  int32_t nlink, nbody;
  watch *body;
  bool *busy; /* [nbody] in contact or with an open entry; the sums of others are zero */
  tabi_ledger_entry *entry;
  int32_t count, capacity;
  double time; /* s, of the last sample; negative: none yet */
};

/* -- the model */

/* The first body of every tree. */
static void find_trees(tabi_ledger *ledger, const tabi_model *model) {
  for (int32_t i = 0; i < ledger->nlink; ++i) {
    int32_t body = ledger->link_body[i];
    int32_t joint = tabi_model_link_joint(model, i);
    if (body == TABI_WORLD || joint == TABI_NONE) continue;
    int32_t parent = tabi_model_joint(model, joint).parent;
    int32_t below = parent == TABI_WORLD ? TABI_WORLD : ledger->link_body[parent];
    if (below != body) ledger->body[body].tree = below;
  }
  // a parent has a lower index than its children
  for (int32_t i = 0; i < ledger->nbody; ++i) {
    watch *body = &ledger->body[i];
    TBI_ASSERT(body->tree < i);
    body->tree = body->tree == TABI_WORLD ? i : ledger->body[body->tree].tree;
  }
}

/* The first link of every body that can touch something gives it its name; without shapes, the
 * first. */
static void find_links(tabi_ledger *ledger, const tabi_model *model) {
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    tabi_shape_def shape = tabi_model_shape(model, i);
    int32_t body = shape.link == TABI_WORLD ? TABI_WORLD : ledger->link_body[shape.link];
    if (body == TABI_WORLD || !shape.collides) continue;
    int32_t *link = &ledger->body[body].link;
    if (*link == TABI_NONE || shape.link < *link) *link = shape.link;
  }
  for (int32_t i = 0; i < ledger->nlink; ++i) {
    int32_t body = ledger->link_body[i];
    if (body != TABI_WORLD && ledger->body[body].link == TABI_NONE) ledger->body[body].link = i;
  }
}

tabi_ledger *tabi_ledger_create(const tabi_model *model, tabi_error *err) {
  TBI_ASSERT(model);
  tabi_ledger *ledger = calloc(1, sizeof *ledger);
  if (!ledger) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  ledger->time = -1;
  ledger->nlink = tabi_model_nlink(model);
  ledger->link_body = calloc((size_t)ledger->nlink + 1, sizeof *ledger->link_body);
  for (int32_t i = 0; i < ledger->nlink && ledger->link_body; ++i) {
    ledger->link_body[i] = tabi_model_link_body(model, i);
    if (ledger->link_body[i] >= ledger->nbody) ledger->nbody = ledger->link_body[i] + 1;
  }
  ledger->body = calloc((size_t)ledger->nbody + 1, sizeof *ledger->body);
  ledger->busy = calloc((size_t)ledger->nbody + 1, sizeof *ledger->busy);
  if (!ledger->link_body || !ledger->body || !ledger->busy) {
    (void)tbi_error_memory(err);
    tabi_ledger_destroy(ledger);
    return NULL;
  }
  for (int32_t i = 0; i < ledger->nbody; ++i)
    ledger->body[i] = (watch){.link = TABI_NONE, .tree = TABI_WORLD, .open = -1};
  find_trees(ledger, model);
  find_links(ledger, model);
  return ledger;
}

void tabi_ledger_destroy(tabi_ledger *ledger) {
  if (!ledger) return;
  free(ledger->link_body);
  free(ledger->body);
  free(ledger->busy);
  free(ledger->entry);
  free(ledger);
}

/* -- the contacts of a sample */

/* The body of a link, or TABI_WORLD; false when the model has no such link. */
static bool find_body(const tabi_ledger *ledger, int32_t link, int32_t *body) {
  if (link != TABI_WORLD && (link < 0 || link >= ledger->nlink)) return false;
  *body = link == TABI_WORLD ? TABI_WORLD : ledger->link_body[link];
  return true;
}

static void add_contact(tabi_ledger *ledger, int32_t body, const tabi_sample_contact *c,
                        double sign) {
  if (body == TABI_WORLD) return;
  TBI_ASSERT(body >= 0 && body < ledger->nbody);
  ledger->busy[body] = true;
  sum *s = &ledger->body[body].sum;
  double normal = 0;
  double parting = 0;
  for (int i = 0; i < 3; ++i) {
    normal += (double)c->force[i] * (double)c->normal[i];
    parting += (double)c->velocity[i] * (double)c->normal[i];
  }
  double weight = fabs(normal);
  s->normal += normal;
  s->weight += weight;
  if (c->status == TABI_CONTACT_SLIP) s->slipping += weight;
  for (int i = 0; i < 3; ++i) {
    double along = (double)c->velocity[i] - parting * (double)c->normal[i];
    s->slip[i] += sign * weight * along;
  }
  s->power += (double)c->power;
}

static bool add_contacts(tabi_ledger *ledger, const tabi_sample *sample) {
  for (int32_t i = 0; i < ledger->nbody; ++i) {
    if (ledger->busy[i]) ledger->body[i].sum = (sum){0};
  }
  for (int32_t i = 0; i < sample->ncontact; ++i) {
    const tabi_sample_contact *c = &sample->contact[i];
    int32_t a = TABI_WORLD;
    int32_t b = TABI_WORLD;
    if (!find_body(ledger, c->link_a, &a) || !find_body(ledger, c->link_b, &b)) return false;
    bool same = a != TABI_WORLD && b != TABI_WORLD && ledger->body[a].tree == ledger->body[b].tree;
    if (same || c->status == TABI_CONTACT_SEPARATING) continue;
    add_contact(ledger, a, c, -1);
    add_contact(ledger, b, c, 1);
  }
  return true;
}

/* The time of a sample as an entry of its own. */
static tabi_ledger_entry entry_of(const watch *body, double start, double end) {
  const sum *s = &body->sum;
  double time = end - start;
  TBI_ASSERT(time > 0);
  tabi_ledger_entry entry = {.link = body->link, .start = start, .end = end};
  if (!(s->weight > 0)) return entry;
  entry.status = s->slipping > s->weight / 2 ? TABI_CONTACT_SLIP : TABI_CONTACT_STICK;
  double slip = sqrt(s->slip[0] * s->slip[0] + s->slip[1] * s->slip[1] + s->slip[2] * s->slip[2]);
  entry.distance = time * slip / s->weight;
  entry.energy = time * s->power;
  entry.impulse = time * s->normal;
  return entry;
}

/* -- entries */

static void extend(tabi_ledger_entry *entry, const tabi_ledger_entry *by) {
  TBI_ASSERT(by->end >= entry->end);
  entry->end = by->end;
  entry->distance += by->distance;
  entry->energy += by->energy;
  entry->impulse += by->impulse;
}

/* Inserts an entry by its start: one that waited may begin before some that are there already. */
static bool begin(tabi_ledger *ledger, int32_t body, const tabi_ledger_entry *entry) {
  if (ledger->count == ledger->capacity) {
    int32_t capacity = ledger->capacity > 0 ? 2 * ledger->capacity : 64;
    tabi_ledger_entry *more = realloc(ledger->entry, sizeof *more * (size_t)capacity);
    if (!more) return false;
    ledger->entry = more;
    ledger->capacity = capacity;
  }
  int32_t at = ledger->count++;
  for (; at > 0 && ledger->entry[at - 1].start > entry->start; --at) {
    ledger->entry[at] = ledger->entry[at - 1];
    for (int32_t i = 0; i < ledger->nbody; ++i) {
      if (ledger->body[i].open == at - 1) ledger->body[i].open = at;
    }
  }
  ledger->entry[at] = *entry;
  ledger->body[body].open = at;
  ledger->body[body].samples = 1;
  ledger->body[body].waits = false;
  return true;
}

/* A sample of another status than the entry's: it waits for the next one to say the same. */
static bool differ(tabi_ledger *ledger, int32_t index, const tabi_ledger_entry *now) {
  watch *body = &ledger->body[index];
  TBI_ASSERT(body->open >= 0 && body->open < ledger->count);
  tabi_ledger_entry *entry = &ledger->entry[body->open];
  bool in_contact = now->status != TABI_CONTACT_SEPARATING;
  if (body->waits && body->other.status == now->status) {
    *entry = body->before;
    body->open = -1;
    body->waits = false;
    if (!in_contact) return true;
    extend(&body->other, now);
    if (!begin(ledger, index, &body->other)) return false;
    body->samples = 2;
    return true;
  }
  // the first sample of a contact takes the status of the second
  if (body->samples == 1 && in_contact && !body->waits) {
    entry->status = now->status;
    extend(entry, now);
    body->samples = 2;
    return true;
  }
  body->waits = true;
  body->before = *entry;
  body->other = *now;
  if (in_contact) extend(entry, now);
  return true;
}

static bool add_body(tabi_ledger *ledger, int32_t index, const tabi_ledger_entry *now) {
  watch *body = &ledger->body[index];
  if (body->open < 0) {
    return now->status == TABI_CONTACT_SEPARATING || begin(ledger, index, now);
  }
  tabi_ledger_entry *entry = &ledger->entry[body->open];
  if (now->status != entry->status) return differ(ledger, index, now);
  extend(entry, now);
  ++body->samples;
  body->waits = false;
  return true;
}

tabi_status tabi_ledger_add(tabi_ledger *ledger, const tabi_sample *sample, tabi_error *err) {
  TBI_ASSERT(ledger && sample && (sample->contact || sample->ncontact == 0));
  const tabi_place nowhere = {NULL, 0};
  double start = ledger->time;
  if (start < 0) {
    double step = sample->step > 0 ? sample->time / (double)sample->step : 0;
    start = sample->time - step;
  }
  if (!(sample->time >= start)) {
    return tbi_error_set(
        err, TABI_ERR_ARGUMENT, nowhere,
        "a sample of %g s after one of %g s; the ledger needs them in the order of "
        "time",
        sample->time, start);
  }
  if (!add_contacts(ledger, sample)) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "a contact of links that the model does not have; the sample is one of "
                         "another model");
  }
  ledger->time = sample->time;
  for (int32_t i = 0; i < ledger->nbody && sample->time > start; ++i) {
    if (!ledger->busy[i]) continue;
    tabi_ledger_entry now = entry_of(&ledger->body[i], start, sample->time);
    if (!add_body(ledger, i, &now)) return tbi_error_memory(err);
    ledger->busy[i] = ledger->body[i].open >= 0;
    if (!ledger->busy[i]) ledger->body[i].sum = (sum){0};
  }
  return TABI_OK;
}

const tabi_ledger_entry *tabi_ledger_entries(const tabi_ledger *ledger, int32_t *count) {
  TBI_ASSERT(ledger && count);
  *count = ledger->count;
  return ledger->entry;
}
