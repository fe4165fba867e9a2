/* sweep_chart.c - response curves, maps and bars. */
#include "sweep/sweep_chart.h"

#include "sweep/page_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 300, HEIGHT = 190, LEFT = 52, RIGHT = 8, TOP = 10, BOTTOM = 34, MAX_GROUPS = 12 };
enum { CELLS = 10, MAX_CELLS = MAX_GROUPS };

/* -- axes */

typedef struct axis {
  double from, to;
  bool log;
  int begin, end; /* pixels */
  /* of texts, which stand at 0, 1, ..; none: numbers */
  int nchoice;
  const char *choice[MAX_GROUPS];
} axis;

/* Wide ranges above zero, if their values are spread so: many are below the middle. */
static bool is_logarithmic(const axis *a, const double *value, int64_t count) {
  if (!(a->from > 0 && a->to / a->from > 20)) return false;
  double middle = sqrt(a->from * a->to);
  int64_t below = 0;
  int64_t all = 0;
  for (int64_t i = 0; i < count; ++i) {
    below += value[i] < middle;
    all += !isnan(value[i]);
  }
  return 4 * below >= all;
}

static axis axis_of(const double *value, int64_t count, int begin, int end) {
  axis a = {.from = HUGE_VAL, .to = -HUGE_VAL, .begin = begin, .end = end};
  for (int64_t i = 0; i < count; ++i) {
    if (isnan(value[i])) continue;
    a.from = fmin(a.from, value[i]);
    a.to = fmax(a.to, value[i]);
  }
  if (!(a.from <= a.to)) a.from = a.to = 0;
  a.log = is_logarithmic(&a, value, count);
  double widen = a.from == a.to ? fmax(1e-9, fabs(a.from) * 0.1) : 0;
  if (widen > 0) a.log = false;
  a.from -= widen;
  a.to += widen;
  return a;
}

/* Texts are drawn at equal distances, as long as there are few. */
static axis axis_of_parameter(const tbi_sweep_table *table, int32_t parameter, int begin, int end) {
  const double *x = table->x[parameter];
  axis a = axis_of(x, table->count, begin, end);
  axis texts = {.from = -0.5, .begin = begin, .end = end};
  for (int64_t i = 0; i < table->count; ++i) {
    const char *text = tabi_study_choice(table->study, table->run[i], parameter);
    if (!text || !(x[i] < MAX_GROUPS)) return a;
    int k = (int)x[i];
    texts.choice[k] = text;
    if (k >= texts.nchoice) texts.nchoice = k + 1;
  }
  texts.to = texts.nchoice - 0.5;
  return texts.nchoice > 0 ? texts : a;
}

static double share_of(const axis *a, double value) {
  if (a->log) return log(value / a->from) / log(a->to / a->from);
  return (value - a->from) / (a->to - a->from);
}

static double pixel(const axis *a, double value) {
  return a->begin + share_of(a, value) * (a->end - a->begin);
}

static double value_at(const axis *a, double share) {
  return a->log ? a->from * pow(a->to / a->from, share) : a->from + (a->to - a->from) * share;
}

static void put_text(FILE *out, double x, double y, const char *anchor, const char *text) {
  (void)fprintf(out, "<text x='%.1f' y='%.1f' text-anchor='%s'>", x, y, anchor);
  tbi_page_text(out, text);
  (void)fputs("</text>", out);
}

static void put_number(FILE *out, double x, double y, const char *anchor, double value) {
  char text[32];
  (void)snprintf(text, sizeof text, fabs(value) >= 1000 && fabs(value) < 1e5 ? "%.0f" : "%.3g",
                 value);
  put_text(out, x, y, anchor, text);
}

static void put_ticks_below(FILE *out, const axis *x) {
  static const char *const anchor[] = {"start", "middle", "end"};
  double y = HEIGHT - BOTTOM + 13;
  for (int i = 0; i < x->nchoice; ++i)
    if (x->choice[i]) put_text(out, pixel(x, i), y, "middle", x->choice[i]);
  for (int i = 0; x->nchoice == 0 && i <= 2; ++i) {
    double at = value_at(x, i / 2.0);
    put_number(out, pixel(x, at), y, anchor[i], at);
  }
}

static void put_ticks_beside(FILE *out, const axis *y) {
  for (int i = 0; i < y->nchoice; ++i)
    if (y->choice[i]) put_text(out, LEFT - 4, pixel(y, i) + 4, "end", y->choice[i]);
  for (int i = 0; y->nchoice == 0 && i <= 2; ++i) {
    double at = value_at(y, i / 2.0);
    put_number(out, LEFT - 4, pixel(y, at) + 4, "end", at);
  }
}

static void begin_chart(FILE *out, const axis *x, const axis *y, const char *name) {
  (void)fprintf(out, "<svg width='%d' height='%d' viewBox='0 0 %d %d'>", WIDTH, HEIGHT, WIDTH,
                HEIGHT);
  (void)fprintf(out, "<path class='axes' d='M%d %dV%dH%d'/>", LEFT, TOP, HEIGHT - BOTTOM,
                WIDTH - RIGHT);
  put_ticks_below(out, x);
  put_ticks_beside(out, y);
  put_text(out, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 6, "middle", name);
}

/* -- responses */

typedef struct point {
  double x, y;
} point;

static int by_x(const void *one, const void *other) {
  const point *a = one;
  const point *b = other;
  return (a->x > b->x) - (a->x < b->x);
}

/* A group of runs: the mean of x, and the estimate of y. */
typedef struct group {
  double x;
  tabi_interval y;
} group;

static group estimate(const point *p, int64_t count, bool boolean, double *scratch) {
  group g = {0};
  int64_t hits = 0;
  for (int64_t i = 0; i < count; ++i) {
    g.x += p[i].x / (double)count;
    scratch[i] = p[i].y;
    hits += p[i].y != 0;
  }
  g.y = boolean ? tabi_wilson_interval(hits, count) : tabi_mean_interval(scratch, count);
  return g;
}

enum { SMALL_GROUP = 4 };

/* Groups of about `size` in which equal x stay together; returns how many. */
static int make_groups(const point *p, int64_t count, int64_t size, bool boolean, double *scratch,
                       group groups[MAX_GROUPS]) {
  int made = 0;
  for (int64_t begin = 0, end = 0; begin < count && made < MAX_GROUPS; begin = end) {
    end = begin + size < count ? begin + size : count;
    while (end < count && p[end].x == p[end - 1].x)
      ++end;
    if (count - end < size / 2) end = count;
    groups[made++] = estimate(p + begin, end - begin, boolean, scratch);
  }
  return made;
}

/* Choices have no order: bars, and no line between them. */
static void draw_choices(FILE *out, const group *g, int count, const axis *x, const axis *y) {
  for (int i = 0; i < count; ++i) {
    double at = pixel(x, g[i].x);
    if (isfinite(g[i].y.low) && isfinite(g[i].y.high))
      (void)fprintf(out, "<path class='axes' d='M%.1f %.1fV%.1f'/>", at, pixel(y, g[i].y.low),
                    pixel(y, g[i].y.high));
    (void)fprintf(out, "<circle cx='%.1f' cy='%.1f' r='3.5'/>", at, pixel(y, g[i].y.value));
  }
}

static void draw_groups(FILE *out, const group *g, int count, const axis *x, const axis *y) {
  (void)fputs("<path class='band' d='", out);
  for (int i = 0; i < count; ++i)
    (void)fprintf(out, "%c%.1f %.1f", i ? 'L' : 'M', pixel(x, g[i].x), pixel(y, g[i].y.high));
  for (int i = count - 1; i >= 0; --i)
    (void)fprintf(out, "L%.1f %.1f", pixel(x, g[i].x), pixel(y, g[i].y.low));
  (void)fputs("Z'/><path class='line' d='", out);
  for (int i = 0; i < count; ++i)
    (void)fprintf(out, "%c%.1f %.1f", i ? 'L' : 'M', pixel(x, g[i].x), pixel(y, g[i].y.value));
  (void)fputs("'/>", out);
  for (int i = 0; i < count; ++i)
    (void)fprintf(out, "<circle cx='%.1f' cy='%.1f' r='2.5'/>", pixel(x, g[i].x),
                  pixel(y, g[i].y.value));
}

static axis axis_of_groups(const group *g, int count, bool boolean) {
  axis y = {.to = 1, .begin = HEIGHT - BOTTOM, .end = TOP};
  if (boolean) return y;
  double end[2 * MAX_GROUPS];
  for (size_t i = 0; i < (size_t)count; ++i) {
    end[2 * i] = isfinite(g[i].y.low) ? g[i].y.low : g[i].y.value;
    end[2 * i + 1] = isfinite(g[i].y.high) ? g[i].y.high : g[i].y.value;
  }
  y = axis_of(end, 2 * (int64_t)count, HEIGHT - BOTTOM, TOP);
  y.log = false;
  return y;
}

void tbi_chart_response(const tbi_sweep_table *table, int32_t parameter, int32_t measure,
                        FILE *out) {
  bool boolean = tabi_study_measure_is_boolean(table->study, measure);
  point *p = calloc((size_t)table->count + 1, sizeof *p);
  double *scratch = calloc((size_t)table->count + 1, sizeof *scratch);
  int64_t count = 0;
  for (int64_t i = 0; p && scratch && i < table->count; ++i) {
    if (!isnan(table->y[measure][i]))
      p[count++] = (point){table->x[parameter][i], table->y[measure][i]};
  }
  if (count >= 8) {
    group groups[MAX_GROUPS];
    qsort(p, (size_t)count, sizeof *p, by_x);
    axis x = axis_of_parameter(table, parameter, LEFT, WIDTH - RIGHT);
    int64_t size = (count + MAX_GROUPS - 1) / MAX_GROUPS;
    if (size < SMALL_GROUP) size = SMALL_GROUP;
    int made = make_groups(p, count, x.nchoice > 0 ? 1 : size, boolean, scratch, groups);
    axis y = axis_of_groups(groups, made, boolean);
    begin_chart(out, &x, &y, tabi_study_parameter_name(table->study, parameter));
    (x.nchoice > 0 ? draw_choices : draw_groups)(out, groups, made, &x, &y);
    (void)fputs("</svg>\n", out);
  }
  free(p);
  free(scratch);
}

/* -- maps */

typedef struct cell {
  double sum;
  int64_t count;
} cell;

static int cells_of(const axis *a) { return a->nchoice > 0 ? a->nchoice : CELLS; }

static int place(const axis *a, double value) {
  int count = cells_of(a);
  int i = (int)(share_of(a, value) * count);
  return i < 0 ? 0 : i >= count ? count - 1 : i;
}

/* dark blue to yellow */
static void put_colour(FILE *out, double share) {
  static const int stop[5][3] = {
      {68,  1,   84 },
      {59,  82,  139},
      {33,  145, 140},
      {94,  201, 98 },
      {253, 231, 37 }
  };
  double at = 4 * fmin(1, fmax(0, share));
  int i = at >= 4 ? 3 : (int)at;
  double f = at - i;
  (void)fprintf(out, "#%02x%02x%02x", (int)(stop[i][0] + f * (stop[i + 1][0] - stop[i][0])),
                (int)(stop[i][1] + f * (stop[i + 1][1] - stop[i][1])),
                (int)(stop[i][2] + f * (stop[i + 1][2] - stop[i][2])));
}

static void draw_cells(FILE *out, cell cells[MAX_CELLS][MAX_CELLS], int across, int up, double low,
                       double high) {
  double w = (double)(WIDTH - RIGHT - LEFT) / across;
  double h = (double)(HEIGHT - BOTTOM - TOP) / up;
  for (int i = 0; i < across; ++i) {
    for (int j = 0; j < up; ++j) {
      if (cells[i][j].count == 0) continue;
      double mean = cells[i][j].sum / (double)cells[i][j].count;
      (void)fprintf(out, "<rect x='%.1f' y='%.1f' width='%.2f' height='%.2f' fill='", LEFT + i * w,
                    HEIGHT - BOTTOM - (j + 1) * h, w + 0.3, h + 0.3);
      put_colour(out, high > low ? (mean - low) / (high - low) : 0.5);
      (void)fprintf(out, "'><title>%.4g, %lld runs</title></rect>", mean,
                    (long long)cells[i][j].count);
    }
  }
}

void tbi_chart_map(const tbi_sweep_table *table, int32_t across, int32_t up, int32_t measure,
                   FILE *out) {
  cell cells[MAX_CELLS][MAX_CELLS] = {0};
  axis x = axis_of_parameter(table, across, LEFT, WIDTH - RIGHT);
  axis y = axis_of_parameter(table, up, HEIGHT - BOTTOM, TOP);
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (int64_t i = 0; i < table->count; ++i) {
    double value = table->y[measure][i];
    if (isnan(value)) continue;
    cell *c = &cells[place(&x, table->x[across][i])][place(&y, table->x[up][i])];
    c->sum += value;
    ++c->count;
  }
  for (int i = 0; i < MAX_CELLS * MAX_CELLS; ++i) {
    const cell *c = &cells[i / MAX_CELLS][i % MAX_CELLS];
    if (c->count == 0) continue;
    low = fmin(low, c->sum / (double)c->count);
    high = fmax(high, c->sum / (double)c->count);
  }
  if (!(low < high)) return;
  char title[160];
  (void)snprintf(title, sizeof title, "%s (across), %s (up): %.3g to %.3g",
                 tabi_study_parameter_name(table->study, across),
                 tabi_study_parameter_name(table->study, up), low, high);
  begin_chart(out, &x, &y, title);
  draw_cells(out, cells, cells_of(&x), cells_of(&y), low, high);
  (void)fputs("</svg>\n", out);
}

/* -- bars */

void tbi_chart_share(double value, double low, double high, FILE *out) {
  enum { LONG = 160, THICK = 12 };
  if (isnan(value)) return;
  double bar = fmin(1, fmax(0, value)) * LONG;
  (void)fprintf(out,
                "<svg width='%d' height='%d'><rect class='track' width='%d' height='%d'/>"
                "<rect class='share' width='%.1f' height='%d'/>",
                LONG, THICK, LONG, THICK, bar, THICK);
  if (!isnan(low)) {
    (void)fprintf(out, "<path class='axes' d='M%.1f %dH%.1f'/>", fmax(0, low) * LONG, THICK / 2,
                  fmin(1, high) * LONG);
  }
  (void)fputs("</svg>", out);
}
