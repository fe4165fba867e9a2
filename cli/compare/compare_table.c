/* compare_table.c - metrics of runs as a table and as JSON, and the tolerances they are held to. */
#include "compare/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_WIDTH = 34, MIN_COLUMN_WIDTH = 11 };

const tbi_metric_row tbi_metric_rows[TBI_NMETRIC] = {
    [TBI_FALL] = {"fall",               "fell",                               1,   true },
    [TBI_FORCE_MEAN] = {"force_mean",         "vertical force, mean [N]",           1,   true },
    [TBI_FORCE_PEAK] = {"force_peak",         "  peak [N]",                         1,   true },
    [TBI_FORCE_JUMP] = {"force_jump",         "  max change per sample [N]",        1,   false},
    [TBI_CONTACT_PEAK] = {"contact_peak",       "force between two links, peak [N]",  1,   true },
    [TBI_ZMP_ERROR] = {"zmp_error",          "ZMP error, rms [mm]",                1e3, false},
    [TBI_ZMP_NOISE] = {"zmp_noise",          "ZMP noise, rms [mm]",                1e3, false},
    [TBI_SLIP] = {"slip",               "slip distance, all links [mm]",      1e3, false},
    [TBI_SLIP_ENERGY] = {"slip_energy",        "  dissipated energy [J]",            1,   false},
    [TBI_CREEP] = {"creep",              "creep while sticking [mm/s]",        1e3, false},
    [TBI_PENETRATION] = {"penetration",        "penetration, max [mm]",              1e3, false},
    [TBI_ENERGY_START] = {"energy_start",       "initial energy [J]",                 1,   true },
    [TBI_ENERGY_END] = {"energy_end",         "  final [J]",                        1,   true },
    [TBI_ENERGY_GAIN] = {"energy_gain",        "  max gain [J]",                     1,   false},
    [TBI_GAP] = {"gap",                "residual gap, max [m]",              1,   false},
    [TBI_GAP_99] = {"gap_99",             "  99th percentile",                  1,   false},
    [TBI_COMPLEMENTARITY] = {"complementarity",    "residual complementarity [m/s]",     1,   false},
    [TBI_COMPLEMENTARITY_99] = {"complementarity_99", "  99th percentile",                  1,   false},
    [TBI_CONE] = {"cone",               "residual cone [N]",                  1,   false},
    [TBI_CONE_99] = {"cone_99",            "  99th percentile",                  1,   false},
    [TBI_DISSIPATION] = {"dissipation",        "residual dissipation [m/s]",         1,   false},
    [TBI_DISSIPATION_99] = {"dissipation_99",     "  99th percentile",                  1,   false},
    [TBI_STALLED] = {"stalled",            "steps above the solver's tolerance", 1,   false},
    [TBI_STEP_TIME] = {"step_time",          "time per step [us]",                 1e6, false},
    [TBI_POSITION_ERROR] = {"position_error",     "position error, max [mm]",           1e3, false},
    [TBI_ANGLE_ERROR] = {"angle_error",        "angle error, max [mrad]",            1e3, false},
};

/* -- tolerances */

static int find_metric(const char *name, size_t length) {
  for (int i = 0; i < TBI_NMETRIC; ++i) {
    const char *known = tbi_metric_rows[i].name;
    if (strlen(known) == length && memcmp(known, name, length) == 0) return i;
  }
  return -1;
}

static bool unknown_metric(const char *name, size_t length) {
  char list[600] = "";
  size_t used = 0;
  for (int i = 0; i < TBI_NMETRIC; ++i) {
    int n = snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
                     tbi_metric_rows[i].name);
    if (n > 0 && (size_t)n < sizeof list - used) used += (size_t)n;
  }
  tbi_usage_error("compare", "--tolerance: unknown metric '%.*s' (%s)", (int)length, name, list);
  return false;
}

/* One "name=number" up to a comma or the end; NULL after an error was printed. */
static const char *parse_tolerance(tbi_compared *c, const char *text) {
  size_t length = strcspn(text, "=,");
  int metric = find_metric(text, length);
  if (metric < 0) {
    (void)unknown_metric(text, length);
    return NULL;
  }
  const char *number = text + length + 1;
  char *end = NULL;
  double limit = text[length] == '=' ? strtod(number, &end) : -1;
  if (!end || end == number || (*end != ',' && *end != '\0') || !isfinite(limit) || limit < 0) {
    tbi_usage_error("compare", "--tolerance: '%s' needs a number >= 0 in SI units, as in %s=0.005",
                    tbi_metric_rows[metric].name, tbi_metric_rows[metric].name);
    return NULL;
  }
  for (int32_t i = 0; i < c->ntolerance; ++i) {
    if ((int)c->tolerance[i].metric != metric) continue;
    tbi_usage_error("compare", "--tolerance: '%s' is given twice", tbi_metric_rows[metric].name);
    return NULL;
  }
  c->tolerance[c->ntolerance++] = (tbi_tolerance){(tbi_metric)metric, limit};
  return end;
}

bool tbi_tolerances_parse(tbi_compared *c, const char *text) {
  const char *at = text;
  do {
    at = parse_tolerance(c, at);
  } while (at && *at++ == ',');
  return at != NULL;
}

bool tbi_compared_exceeds(const tbi_compared *c, int32_t run, const tbi_tolerance *t) {
  double value = c->run[run].metrics.value[t->metric];
  double reference = c->run[0].metrics.value[t->metric];
  if (!tbi_metric_rows[t->metric].differs) return !(value <= t->limit);
  if (isnan(value) && isnan(reference)) return false;
  return !(fabs(value - reference) <= t->limit);
}

/* A run that did not reach its end is within no tolerance. */
bool tbi_compared_within(const tbi_compared *c) {
  for (int32_t run = 0; run < c->nrun && c->ntolerance > 0; ++run) {
    if (c->run[run].source.failure.status != TABI_OK) return false;
    for (int32_t i = 0; i < c->ntolerance; ++i) {
      if (tbi_compared_exceeds(c, run, &c->tolerance[i])) return false;
    }
  }
  return true;
}

/* -- the table */

static const tbi_tolerance *tolerance_of(const tbi_compared *c, int metric) {
  for (int32_t i = 0; i < c->ntolerance; ++i) {
    if ((int)c->tolerance[i].metric == metric) return &c->tolerance[i];
  }
  return NULL;
}

/* A space more than the name. */
static int column_width(const tbi_run *run) {
  int length = (int)strlen(run->name);
  return length < MIN_COLUMN_WIDTH ? MIN_COLUMN_WIDTH : length + 1;
}

static void print_times(const tbi_run *run, FILE *out) {
  (void)fprintf(out, "%g to %g s in steps of %g ms", run->metrics.first, run->metrics.last,
                1e3 * run->source.timestep);
}

/* One scene, or every run by itself. */
static void print_heading(const tbi_compared *c, FILE *out) {
  const tbi_run *first = &c->run[0];
  if (c->methods) {
    (void)fprintf(out, "%s: ", first->source.path);
    print_times(first, out);
    (void)fprintf(out, ", %s; the reference is %s\n",
                  tabi_integrator_name(first->source.integrator), first->name);
  }
  for (int32_t i = 0; i < c->nrun && !c->methods; ++i) {
    const tbi_run *run = &c->run[i];
    (void)fprintf(out, "%-*s %s: ", MIN_COLUMN_WIDTH - 1, run->name, run->source.path);
    print_times(run, out);
    (void)fprintf(out, ", %s, %s%s\n", tabi_contact_name(run->source.contact),
                  tabi_integrator_name(run->source.integrator), i == 0 ? "; the reference" : "");
  }
  (void)fprintf(out, "\n%-*s", LABEL_WIDTH, "");
  for (int32_t i = 0; i < c->nrun; ++i)
    (void)fprintf(out, "%*s", column_width(&c->run[i]), c->run[i].name);
  (void)fputc('\n', out);
}

static void show_value(const tbi_run *run, int metric, char *text, size_t size) {
  double value = run->metrics.value[metric];
  bool robots = tabi_scene_nrobot(run->source.scene) > 0;
  if (metric == TBI_FALL && isnan(value)) {
    (void)snprintf(text, size, "%s", robots ? "no" : "-");
  } else if (metric == TBI_FALL) {
    (void)snprintf(text, size, "%.3f s", value);
  } else if (isnan(value)) {
    (void)snprintf(text, size, "-");
  } else {
    (void)snprintf(text, size, "%.4g", value * tbi_metric_rows[metric].scale);
  }
}

static void print_row(const tbi_compared *c, int metric, FILE *out) {
  const tbi_tolerance *tolerance = tolerance_of(c, metric);
  (void)fprintf(out, "%-*s", LABEL_WIDTH, tbi_metric_rows[metric].label);
  for (int32_t i = 0; i < c->nrun; ++i) {
    char text[32];
    show_value(&c->run[i], metric, text, sizeof text);
    bool marked = tolerance && tbi_compared_exceeds(c, i, tolerance);
    (void)fprintf(out, "%*s%s", column_width(&c->run[i]) - (marked ? 1 : 0), text,
                  marked ? "*" : "");
  }
  (void)fputc('\n', out);
}

static void print_divergences(const tbi_compared *c, FILE *out) {
  const char *first = c->run[0].name;
  if (c->nrun > 1) (void)fputc('\n', out);
  for (int32_t i = 1; i < c->nrun; ++i) {
    const tbi_deviation *d = &c->run[i].deviation;
    const char *name = c->run[i].name;
    char signal[512];
    if (d->pairs == 0) {
      (void)fprintf(out, "%s and %s have no time in common\n", name, first);
      continue;
    }
    if (!d->divergence.diverged) {
      (void)fprintf(out, "%s agrees with %s within 1 mm and 1 mrad up to %g s\n", name, first,
                    d->until);
      continue;
    }
    bool turns = c->reference.coordinate[d->divergence.dof].turns;
    tbi_reference_signal(&c->reference, d->divergence.dof, signal, sizeof signal);
    (void)fprintf(out, "%s diverges from %s at %g s: %s differs by %.3g %s\n", name, first,
                  d->divergence.time, signal, 1e3 * d->divergence.off, turns ? "mrad" : "mm");
  }
}

static void print_failures(const tbi_compared *c, FILE *out) {
  for (int32_t i = 0; i < c->nrun; ++i) {
    const tabi_error *failure = &c->run[i].source.failure;
    if (failure->status == TABI_OK) continue;
    (void)fprintf(out, "%s stopped early: %s\n", c->run[i].name, failure->message);
  }
  for (int32_t i = 0; i < c->nrefusal; ++i) {
    (void)fprintf(out, "%s cannot run this scene: %s\n", c->refusal[i].name,
                  c->refusal[i].reason.message);
  }
}

static void print_tolerances(const tbi_compared *c, FILE *out) {
  for (int32_t i = 0; i < c->ntolerance; ++i) {
    const tbi_tolerance *t = &c->tolerance[i];
    const tbi_metric_row *row = &tbi_metric_rows[t->metric];
    (void)fprintf(out, "%stolerance %s=%g%s: ", i == 0 ? "\n" : "", row->name, t->limit,
                  row->differs ? " from the reference" : "");
    bool fine = true;
    for (int32_t run = 0; run < c->nrun; ++run) {
      if (!tbi_compared_exceeds(c, run, t)) continue;
      (void)fprintf(out, "%s%s", fine ? "exceeded (*) by " : ", ", c->run[run].name);
      fine = false;
    }
    (void)fprintf(out, "%s\n", fine ? "met by all" : "");
  }
}

void tbi_compared_print(const tbi_compared *c, FILE *out) {
  print_heading(c, out);
  for (int i = 0; i < TBI_NMETRIC; ++i)
    print_row(c, i, out);
  print_divergences(c, out);
  print_failures(c, out);
  print_tolerances(c, out);
}

/* -- JSON */

static json_t *json_metrics(const tbi_run_metrics *metrics) {
  json_t *object = json_object();
  int bad = 0;
  for (int i = 0; i < TBI_NMETRIC; ++i)
    bad |= json_object_set_new(object, tbi_metric_rows[i].name, tbi_json_number(metrics->value[i]));
  if (!bad) return object;
  json_decref(object);
  return NULL;
}

static json_t *json_divergence(const tbi_compared *c, const tbi_divergence *divergence) {
  if (!divergence->diverged) return json_null();
  char signal[512];
  tbi_reference_signal(&c->reference, divergence->dof, signal, sizeof signal);
  return json_pack("{so so so ss}", "time", tbi_json_number(divergence->time), "signal",
                   tbi_json_text(signal), "difference", tbi_json_number(divergence->off), "unit",
                   c->reference.coordinate[divergence->dof].turns ? "rad" : "m");
}

static json_t *json_links(const tbi_run *run) {
  const tabi_model *model = tabi_scene_model(run->source.scene);
  json_t *links = json_array();
  int bad = 0;
  for (int32_t i = 0; i < run->metrics.nlink; ++i) {
    const tbi_link_metrics *l = &run->metrics.link[i];
    bad |= json_array_append_new(
        links, json_pack("{so so so so so so}", "link",
                         tbi_json_text(tabi_model_link(model, l->link).name), "stick_time",
                         tbi_json_number(l->stick_time), "slip_time", tbi_json_number(l->slip_time),
                         "creep", tbi_json_number(l->creep), "slip", tbi_json_number(l->slip),
                         "energy", tbi_json_number(l->energy)));
  }
  if (!bad) return links;
  json_decref(links);
  return NULL;
}

static json_t *json_run(const tbi_compared *c, const tbi_run *run) {
  const tbi_source *s = &run->source;
  const tbi_run_metrics *a = &run->metrics;
  json_t *o = json_object();
  int bad = json_object_set_new(o, "name", tbi_json_text(run->name));
  bad |= json_object_set_new(o, "file", tbi_json_text(s->path));
  bad |= json_object_set_new(o, "log", json_boolean(s->recording));
  bad |= json_object_set_new(o, "contact", json_string(tabi_contact_name(s->contact)));
  bad |= json_object_set_new(o, "integrator", json_string(tabi_integrator_name(s->integrator)));
  bad |= json_object_set_new(o, "dt", tbi_json_number(s->timestep));
  bad |= json_object_set_new(o, "start", tbi_json_number(a->first));
  bad |= json_object_set_new(o, "end", tbi_json_number(a->last));
  bad |= json_object_set_new(o, "samples", json_integer(a->samples));
  bad |= json_object_set_new(o, "frames", json_integer(a->samples)); // until 1.0
  bad |= json_object_set_new(o, "fell", json_boolean(!isnan(a->value[TBI_FALL])));
  bool failed = s->failure.status != TABI_OK;
  bad |= json_object_set_new(o, "failure", tbi_json_text(failed ? s->failure.message : NULL));
  bad |= json_object_set_new(o, "figures", json_metrics(a));
  bad |= json_object_set_new(o, "divergence", json_divergence(c, &run->deviation.divergence));
  bad |= json_object_set_new(o, "links", json_links(run));
  if (!bad) return o;
  json_decref(o);
  return NULL;
}

static json_t *json_runs(const tbi_compared *c) {
  json_t *runs = json_array();
  int bad = 0;
  for (int32_t i = 0; i < c->nrun; ++i)
    bad |= json_array_append_new(runs, json_run(c, &c->run[i]));
  if (!bad) return runs;
  json_decref(runs);
  return NULL;
}

static json_t *json_refusals(const tbi_compared *c) {
  json_t *refused = json_array();
  int bad = 0;
  for (int32_t i = 0; i < c->nrefusal; ++i) {
    bad |= json_array_append_new(refused, json_pack("{ss ss}", "name", c->refusal[i].name, "reason",
                                                    c->refusal[i].reason.message));
  }
  if (!bad) return refused;
  json_decref(refused);
  return NULL;
}

static json_t *json_tolerances(const tbi_compared *c) {
  json_t *tolerances = json_array();
  int bad = 0;
  for (int32_t i = 0; i < c->ntolerance; ++i) {
    const tbi_tolerance *t = &c->tolerance[i];
    json_t *exceeded = json_array();
    for (int32_t run = 0; run < c->nrun; ++run) {
      if (tbi_compared_exceeds(c, run, t))
        bad |= json_array_append_new(exceeded, tbi_json_text(c->run[run].name));
    }
    bad |= json_array_append_new(
        tolerances, json_pack("{ss so so}", "name", tbi_metric_rows[t->metric].name, "limit",
                              tbi_json_number(t->limit), "exceeded", exceeded));
  }
  if (!bad) return tolerances;
  json_decref(tolerances);
  return NULL;
}

int tbi_compared_print_json(const tbi_compared *c, const tbi_findings *warnings, FILE *out) {
  json_t *o = json_object();
  int bad = json_object_set_new(o, "reference", tbi_json_text(c->run[0].name));
  bad |= json_object_set_new(o, "runs", json_runs(c));
  bad |= json_object_set_new(o, "refused", json_refusals(c));
  bad |= json_object_set_new(o, "tolerances", json_tolerances(c));
  bad |= json_object_set_new(o, "within", json_boolean(tbi_compared_within(c)));
  bad |= json_object_set_new(o, "warnings", tbi_json_findings(warnings));
  bad |= json_object_set_new(o, "repairs", tbi_json_repairs(warnings));
  if (bad) {
    json_decref(o);
    o = NULL;
  }
  return tbi_json_print(out, o);
}
