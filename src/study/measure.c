/* measure.c - measures by name, by signal and by condition. */
#include "study/measure.h"

#include "base/assertion.h"
#include "base/error.h"
#include "io/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- reading */

static const char *const statistic_name[TBI_STATISTIC_COUNT] = {"min", "max", "mean", "rms",
                                                                "last"};

/* Measures that have a name of their own. */
static const struct {
  const char *name, *signal;
  tbi_measure_kind kind;
  tbi_statistic statistic;
} known[] = {
    {"fell",        NULL,                          TBI_MEASURE_FELL,      TBI_STATISTIC_LAST},
    {"fall_time",   NULL,                          TBI_MEASURE_FALL_TIME, TBI_STATISTIC_LAST},
    {"slip",        NULL,                          TBI_MEASURE_SLIP,      TBI_STATISTIC_LAST},
    {"zmp_margin",  "margin",                      TBI_MEASURE_SIGNAL,    TBI_STATISTIC_MIN },
    {"peak_force",  "ground.fz",                   TBI_MEASURE_SIGNAL,    TBI_STATISTIC_MAX },
    {"peak_torque", NULL,                          TBI_MEASURE_TORQUE,    TBI_STATISTIC_MAX },
    {"energy_gain", NULL,                          TBI_MEASURE_GAIN,      TBI_STATISTIC_MAX },
    {"energy",      "energy.total",                TBI_MEASURE_SIGNAL,    TBI_STATISTIC_LAST},
    {"work",        "energy.work",                 TBI_MEASURE_SIGNAL,    TBI_STATISTIC_LAST},
    {"penetration", "contact.depth",               TBI_MEASURE_SIGNAL,    TBI_STATISTIC_MAX },
    {"residual",    "certificate.complementarity", TBI_MEASURE_SIGNAL,    TBI_STATISTIC_MAX },
    {"dissipation", "certificate.dissipation",     TBI_MEASURE_SIGNAL,    TBI_STATISTIC_MAX },
};
enum { NKNOWN = sizeof known / sizeof *known };

static bool read_known(tbi_first_error *error, const tbi_yaml_node *node, const char *what,
                       tbi_measure *m) {
  char list[200] = "";
  for (int i = 0; i < NKNOWN; ++i) {
    if (strcmp(node->text, known[i].name) == 0) {
      m->kind = known[i].kind;
      m->signal = known[i].signal;
      m->statistic = known[i].statistic;
      return true;
    }
    size_t used = strlen(list);
    (void)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", known[i].name);
  }
  return tbi_fail_about(error, node->place, what,
                        "'%.60s' is none of %s; of a signal: {signal: com.z, statistic: min}",
                        node->text, list);
}

/* "com.z < 0.4" */
static bool read_condition(tbi_first_error *error, tbi_text_pool *pool, const tbi_yaml_node *node,
                           const char *what, const char *text, tbi_measure *m) {
  char name[160];
  size_t length = strcspn(text, "<>");
  m->kind = TBI_MEASURE_WHEN;
  m->above = text[length] == '>';
  const char *number = text + length + (text[length] != '\0');
  number += strspn(number, " ");
  if (length == 0 || length >= sizeof name || !tbi_number_read(number, strlen(number), &m->bound)) {
    return tbi_fail_about(error, node->place, what,
                          "when is a signal, < or >, and a number, as in \"com.z < 0.4\"");
  }
  memcpy(name, text, length);
  while (length > 0 && name[length - 1] == ' ')
    --length;
  name[length] = '\0';
  m->signal = tbi_text_add(pool, name);
  return m->signal || tbi_fail_memory(error);
}

static bool read_statistic(tbi_first_error *error, const tbi_yaml_node *node, const char *what,
                           const char *word, tbi_measure *m) {
  m->kind = TBI_MEASURE_SIGNAL;
  for (int i = 0; word && i < TBI_STATISTIC_COUNT; ++i) {
    if (strcmp(word, statistic_name[i]) != 0) continue;
    m->statistic = (tbi_statistic)i;
    return true;
  }
  return tbi_fail_about(error, node->place, what,
                        "give statistic: min, max, mean, rms or last of the signal");
}

typedef struct measure_keys {
  const char *signal, *statistic, *when;
} measure_keys;

static const tbi_field measure_fields[] = {
    {"signal",    TBI_FIELD_WORD, offsetof(measure_keys, signal)   },
    {"statistic", TBI_FIELD_WORD, offsetof(measure_keys, statistic)},
    {"when",      TBI_FIELD_WORD, offsetof(measure_keys, when)     },
};

bool tbi_measure_read(tbi_first_error *error, tbi_text_pool *pool, const tbi_yaml_node *node,
                      tbi_measure *m) {
  char what[96];
  measure_keys keys = {0};
  tbi_message_format(what, sizeof what, "measure '%.60s': ", node->key);
  m->name = tbi_text_add(pool, node->key);
  m->place = node->place;
  if (!m->name) return tbi_fail_memory(error);
  if (node->kind == TBI_YAML_SCALAR) return read_known(error, node, what, m);
  if (!tbi_fields_read(error, node, what, TBI_FIELDS(measure_fields), &keys)) return false;
  if ((keys.signal != NULL) == (keys.when != NULL)) {
    return tbi_fail_about(error, node->place, what,
                          "give signal and statistic, or when: \"signal < number\"");
  }
  if (keys.when) return read_condition(error, pool, node, what, keys.when, m);
  m->signal = tbi_text_add(pool, keys.signal);
  if (!m->signal) return tbi_fail_memory(error);
  return read_statistic(error, node, what, keys.statistic, m);
}

/* -- measuring */

/* A measure so far. */
typedef struct gauge {
  int32_t signal; /* its number, or TABI_NONE */
  double value;   /* min, max, last, or the time; NAN: none yet */
  double sum;     /* of values or squares */
  int64_t count;
} gauge;

struct tbi_measuring {
  const tbi_measure *measure;
  int32_t count;
  tabi_world *world;
  tabi_fall *fall;
  double fell_at; /* s; NAN: it stands */
  double torque;  /* N m or N, largest so far */
  tabi_run_checks checks;
  tabi_observer *observer; /* or NULL: nobody asks for what samples have */
  tabi_signals *signals;
  tabi_ledger *ledger; /* or NULL */
  double *value;       /* of all signals */
  gauge *gauge;
};

static bool asks(const tbi_measuring *g, tbi_measure_kind kind) {
  for (int32_t i = 0; i < g->count; ++i) {
    if (g->measure[i].kind == kind) return true;
  }
  return false;
}

static int32_t find_signal(const tbi_measuring *g, const tbi_measure *m, bool *chosen,
                           tabi_error *err) {
  int32_t all = tabi_signals_count(g->signals);
  memset(chosen, 0, (size_t)all * sizeof *chosen);
  int32_t matches = tabi_signals_match(g->signals, m->signal, chosen);
  for (int32_t i = 0; i < all; ++i) {
    if (chosen[i] && matches == 1) return i;
  }
  const char *near = tabi_signals_nearest(g->signals, m->signal);
  if (matches > 1) {
    tbi_error_set(err, TABI_ERR_PARSE, m->place, "measure '%s': '%.80s' means %d signals; name one",
                  m->name, m->signal, matches);
  } else {
    tbi_error_set(err, TABI_ERR_PARSE, m->place,
                  "measure '%s': the scene has no signal '%.80s'%s%s%s", m->name, m->signal,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  }
  return TABI_NONE;
}

/* Only signals that a measure has are evaluated. */
static void want_signals(const tbi_measuring *g, bool *wanted) {
  memset(wanted, 0, (size_t)tabi_signals_count(g->signals) * sizeof *wanted);
  for (int32_t i = 0; i < g->count; ++i) {
    if (g->gauge[i].signal != TABI_NONE) wanted[g->gauge[i].signal] = true;
  }
  tabi_signals_want(g->signals, wanted);
}

static bool find_signals(tbi_measuring *g, tabi_error *err) {
  bool *chosen = calloc((size_t)tabi_signals_count(g->signals) + 1, sizeof *chosen);
  if (!chosen) {
    tbi_error_memory(err);
    return false;
  }
  bool good = true;
  for (int32_t i = 0; i < g->count && good; ++i) {
    if (!g->measure[i].signal) continue;
    g->gauge[i].signal = find_signal(g, &g->measure[i], chosen, err);
    good = g->gauge[i].signal != TABI_NONE;
  }
  if (good) want_signals(g, chosen);
  free(chosen);
  return good;
}

static bool watch_signals(tbi_measuring *g, const tabi_scene *scene, tabi_error *err) {
  bool slip = asks(g, TBI_MEASURE_SLIP);
  tabi_run_checks_begin(&g->checks, scene, g->world);
  if (!slip && !asks(g, TBI_MEASURE_TORQUE) && !asks(g, TBI_MEASURE_GAIN) &&
      !asks(g, TBI_MEASURE_SIGNAL) && !asks(g, TBI_MEASURE_WHEN))
    return true;
  g->observer = tabi_observer_create(scene, g->world, err);
  g->signals = g->observer ? tabi_signals_create(scene, err) : NULL;
  if (!g->signals) return false;
  g->value = calloc((size_t)tabi_signals_count(g->signals) + 1, sizeof *g->value);
  if (!g->value) return tbi_error_memory(err) == TABI_OK;
  if (slip) g->ledger = tabi_ledger_create(tabi_scene_model(scene), err);
  return (!slip || g->ledger) && find_signals(g, err);
}

tbi_measuring *tbi_measuring_create(const tbi_measure *measure, int32_t count, tabi_scene *scene,
                                    tabi_world *world, tabi_error *err) {
  tbi_measuring *g = calloc(1, sizeof *g);
  gauge *gauges = calloc((size_t)count + 1, sizeof *gauges);
  if (!g || !gauges) {
    free(g);
    free(gauges);
    tbi_error_memory(err);
    return NULL;
  }
  *g = (tbi_measuring){
      .measure = measure, .count = count, .world = world, .gauge = gauges, .fell_at = (double)NAN};
  for (int32_t i = 0; i < count; ++i)
    gauges[i] = (gauge){.signal = TABI_NONE, .value = (double)NAN};
  g->fall = tabi_fall_create(scene, tabi_world_q(world), tabi_world_v(world), err);
  if (g->fall && watch_signals(g, scene, err)) return g;
  tbi_measuring_destroy(g);
  return NULL;
}

void tbi_measuring_destroy(tbi_measuring *g) {
  if (!g) return;
  tabi_fall_destroy(g->fall);
  tabi_observer_destroy(g->observer);
  tabi_signals_destroy(g->signals);
  tabi_ledger_destroy(g->ledger);
  free(g->value);
  free(g->gauge);
  free(g);
}

static void take(gauge *to, const tbi_measure *m, double time, double value) {
  if (isnan(value)) return;
  ++to->count;
  if (m->kind == TBI_MEASURE_WHEN) {
    bool holds = m->above ? value > m->bound : value < m->bound;
    if (holds && isnan(to->value)) to->value = time;
    return;
  }
  to->sum += m->statistic == TBI_STATISTIC_RMS ? value * value : value;
  if (m->statistic == TBI_STATISTIC_MIN) to->value = fmin(to->value, value);
  if (m->statistic == TBI_STATISTIC_MAX) to->value = fmax(to->value, value);
  if (m->statistic == TBI_STATISTIC_LAST) to->value = value;
}

bool tbi_measuring_fell(const tbi_measuring *g) {
  return tabi_fall_lies(g->fall, tabi_world_dynamics(g->world));
}

/* The fall that lasts to the end counts. */
static void watch_fall(tbi_measuring *g) {
  if (!tbi_measuring_fell(g)) {
    g->fell_at = (double)NAN;
  } else if (isnan(g->fell_at)) {
    g->fell_at = tabi_world_time(g->world);
  }
}

static void watch_torques(tbi_measuring *g, const tabi_sample *sample) {
  for (int32_t i = 0; i < sample->njoint; ++i)
    g->torque = fmax(g->torque, fabs((double)sample->effort[i].applied));
}

static bool fall_is_due(const tbi_measuring *g) {
  return tabi_world_steps(g->world) % TBI_FALL_EVERY == 0 && asks(g, TBI_MEASURE_FALL_TIME);
}

bool tbi_measuring_looks(const tbi_measuring *g) { return g->observer || fall_is_due(g); }

void tbi_measuring_step(tbi_measuring *g) {
  if (fall_is_due(g)) watch_fall(g);
  if (!g->observer) return;
  const tabi_sample *sample = tabi_observer_look(g->observer);
  if (g->ledger) (void)tabi_ledger_add(g->ledger, sample, NULL);
  if (asks(g, TBI_MEASURE_TORQUE)) watch_torques(g, sample);
  if (asks(g, TBI_MEASURE_GAIN)) tabi_run_checks_step(&g->checks, g->world, &sample->energy);
  if (!asks(g, TBI_MEASURE_SIGNAL) && !asks(g, TBI_MEASURE_WHEN)) return;
  tabi_signals_eval(g->signals, sample, g->value);
  for (int32_t i = 0; i < g->count; ++i) {
    if (g->gauge[i].signal != TABI_NONE)
      take(&g->gauge[i], &g->measure[i], sample->time, g->value[g->gauge[i].signal]);
  }
}

/* entries of a link are spread over the ledger; there are few links that slip */
static double farthest_slip(const tabi_ledger *ledger) {
  int32_t count = 0;
  double farthest = 0;
  const tabi_ledger_entry *entry = tabi_ledger_entries(ledger, &count);
  for (int32_t i = 0; i < count; ++i) {
    double sum = 0;
    for (int32_t j = i; j < count; ++j) {
      if (entry[j].link == entry[i].link && entry[j].status == TABI_CONTACT_SLIP)
        sum += entry[j].distance;
    }
    farthest = fmax(farthest, sum);
  }
  return farthest;
}

static double result(const tbi_measuring *g, int32_t i) {
  const tbi_measure *m = &g->measure[i];
  const gauge *of = &g->gauge[i];
  switch (m->kind) {
  case TBI_MEASURE_FELL:
    return tbi_measuring_fell(g) ? 1 : 0;
  case TBI_MEASURE_FALL_TIME:
    return g->fell_at;
  case TBI_MEASURE_SLIP:
    return farthest_slip(g->ledger);
  case TBI_MEASURE_TORQUE:
    return g->torque;
  case TBI_MEASURE_GAIN:
    return tabi_run_checks_gain(&g->checks);
  default:
    break;
  }
  if (of->count > 0 && m->kind == TBI_MEASURE_SIGNAL) {
    if (m->statistic == TBI_STATISTIC_MEAN) return of->sum / (double)of->count;
    if (m->statistic == TBI_STATISTIC_RMS) return sqrt(of->sum / (double)of->count);
  }
  return of->value;
}

void tbi_measuring_end(tbi_measuring *g, double *value) {
  TBI_ASSERT(g && value);
  if (asks(g, TBI_MEASURE_FALL_TIME)) watch_fall(g);
  for (int32_t i = 0; i < g->count; ++i)
    value[i] = result(g, i);
}
