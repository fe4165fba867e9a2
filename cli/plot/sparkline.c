/* sparkline.c - see sparkline.h. */
#include "plot/sparkline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool tbi_sparks_possible(void) {
  static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  const char *locale = "";
  for (size_t i = 0; i < sizeof names / sizeof *names && locale[0] == '\0'; ++i) {
    const char *value = getenv(names[i]);
    if (value) locale = value;
  }
  const char *term = getenv("TERM");
  bool letters = strstr(locale, "UTF-8") || strstr(locale, "utf8") || strstr(locale, "utf-8");
  return letters && isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

/* The first signal that a pattern means. */
static int32_t find(const tabi_signals *signals, const char *pattern) {
  int32_t count = tabi_signals_count(signals);
  int32_t found = TABI_NONE;
  bool *chosen = calloc((size_t)count + 1, sizeof *chosen);
  if (!chosen) return TABI_NONE;
  (void)tabi_signals_match(signals, pattern, chosen);
  for (int32_t i = count - 1; i >= 0; --i) {
    if (chosen[i]) found = i;
  }
  free(chosen);
  return found;
}

static tbi_spark make(const tabi_signals *signals, const char *name, const char *pattern,
                      const char *other) {
  tbi_spark spark = {.name = name, .least = (double)NAN, .most = (double)NAN};
  spark.signal[0] = find(signals, pattern);
  spark.signal[1] = find(signals, other);
  if (spark.signal[0] == TABI_NONE) spark.signal[0] = spark.signal[1];
  if (spark.signal[0] != TABI_NONE) spark.unit = tabi_signals_get(signals, spark.signal[0]).unit;
  for (int i = 0; i < TBI_SPARK_CELLS; ++i)
    spark.cell[i] = (double)NAN;
  return spark;
}

void tbi_sparks_begin(tbi_sparks *sparks, const tabi_signals *signals, int64_t steps) {
  *sparks = (tbi_sparks){.wanted = true, .steps = steps};
  sparks->line[0] = make(signals, "force", "ground.fz", "");
  // of several robots it is the first
  sparks->line[1] = make(signals, "height", "com.z", "*.com.z");
  sparks->line[2] =
      make(signals, "residual", "certificate.complementarity", "certificate.dissipation");
  sparks->line[2].logarithmic = true;
}

static void add(tbi_spark *spark, int cell, const double *value) {
  double v = value[spark->signal[0]];
  if (spark->signal[1] != TABI_NONE) v = fmax(v, value[spark->signal[1]]);
  if (isnan(v) || (spark->logarithmic && v <= 0)) return;
  // fmin and fmax leave NaN out
  spark->least = fmin(spark->least, v);
  spark->most = fmax(spark->most, v);
  spark->cell[cell] = fmax(spark->cell[cell], v);
}

void tbi_sparks_step(tbi_sparks *sparks, const double *value) {
  if (!sparks->wanted || sparks->at >= sparks->steps) return;
  int64_t cells = sparks->steps < TBI_SPARK_CELLS ? sparks->steps : TBI_SPARK_CELLS;
  int cell = (int)((double)sparks->at / (double)sparks->steps * (double)cells);
  ++sparks->at;
  for (int i = 0; i < TBI_SPARK_LINES; ++i) {
    if (sparks->line[i].unit) add(&sparks->line[i], cell, value);
  }
}

/* 0 to 7; what hardly changes stays low. */
static int level(const tbi_spark *spark, double value) {
  double low = spark->logarithmic ? log10(spark->least) : spark->least;
  double high = spark->logarithmic ? log10(spark->most) : spark->most;
  double at = spark->logarithmic ? log10(value) : value;
  double range = high - low;
  if (range <= 1e-6 * fmax(fabs(low), fabs(high))) return 0;
  int bar = (int)(8 * (at - low) / range);
  return bar > 7 ? 7 : bar;
}

void tbi_sparks_print(const tbi_sparks *sparks, FILE *out) {
  static const char *const bars[8] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (sparks->wanted) (void)fputc('\n', out);
  for (int i = 0; i < TBI_SPARK_LINES && sparks->wanted; ++i) {
    const tbi_spark *spark = &sparks->line[i];
    if (isnan(spark->least)) continue;
    (void)fprintf(out, "  %-13s ", spark->name);
    int64_t cells = sparks->steps < TBI_SPARK_CELLS ? sparks->steps : TBI_SPARK_CELLS;
    for (int k = 0; k < cells; ++k)
      (void)fputs(isnan(spark->cell[k]) ? " " : bars[level(spark, spark->cell[k])], out);
    (void)fprintf(out, "  %.3g to %.3g %s%s\n", spark->least, spark->most, spark->unit,
                  spark->logarithmic ? ", logarithmic" : "");
  }
}
