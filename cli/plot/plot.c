/* plot.c - panels and their curves, and the script that has gnuplot draw them.
 *
 * A panel has signals with one unit, in one colour each; runs differ by their dashes.  Sizes are
 * those of a screen in pixels: gnuplot is told the margins of every panel, so that axes stand
 * below each other and legends above them have room for as many lines as they need. */
#include "plot/plot.h"

#include "gnuplot.h"
#include "plot/curve.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_PANELS = 16,
  PIECES = 2000, /* of a curve, with two points each */
  WIDTH = 900,
  LEFT = 110,
  RIGHT = 25,
  HEADING = 36,
  PANEL = 165,
  LEGEND = 19, /* a line of it */
  GAP = 16,
  FOOT = 60,
  LETTER = 8, /* is wide at most */
  SAMPLE = 48,
};

#define LEAST 1e-16 /* that a logarithmic axis shows; zero is left out */

typedef struct panel {
  char label[64];
  const char *unit; /* of all its signals, or NULL */
  bool logarithmic;
} panel;

typedef struct item {
  tabi_signal signal;
  int panel;
  int place; /* in it */
} item;

typedef struct run {
  char name[64];
  double from, to;                 /* s */
  int32_t index[TBI_PLOT_SIGNALS]; /* of the figure's signals in its own, or TABI_NONE */
  tbi_curve curve[TBI_PLOT_SIGNALS];
} run;

/* Colours tell signals, and dashes runs, with a line in the legend for each of both; where there is
 * one signal, colours tell runs too. */
typedef struct line {
  int curve, run; /* curve < 0: only in the legend */
  int colour, dashes;
  char legend[120]; /* "": not in the legend */
} line;

enum { MAX_LINES = TBI_PLOT_SIGNALS * TBI_PLOT_RUNS + TBI_PLOT_RUNS };

struct tbi_plot {
  panel panel[MAX_PANELS];
  item item[TBI_PLOT_SIGNALS];
  int npanel, nitem, nrun;
  bool overview;
  run *run[TBI_PLOT_RUNS];
  line line[MAX_LINES]; /* of the panel that is being drawn */
};

/* -- what is drawn */

/* What numbers with a unit are called when they differ. */
static const char *word_of(const char *unit) {
  static const char *const words[][2] = {
      {"s",     "time"            },
      {"m",     "position"        },
      {"m/s",   "velocity"        },
      {"m/s^2", "acceleration"    },
      {"rad",   "angle"           },
      {"rad/s", "angular velocity"},
      {"N",     "force"           },
      {"N m",   "torque"          },
      {"J",     "energy"          },
      {"W",     "power"           },
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
    if (strcmp(words[i][0], unit) == 0) return words[i][1];
  }
  return "number";
}

static const char *pretty(const char *unit) {
  return strcmp(unit, "m/s^2") == 0 ? "m/s\xc2\xb2" : unit;
}

static void set_label(panel *p, const char *text) {
  const char *unit = p->unit ? p->unit : "";
  (void)snprintf(p->label, sizeof p->label, unit[0] ? "%s [%s]" : "%s", text, pretty(unit));
}

static bool is_residual(const char *name) { return strncmp(name, "certificate.", 12) == 0; }

/* The number of a new panel; -1: there are too many. */
static int add_panel(tbi_plot *plot, const char *unit, bool logarithmic) {
  if (plot->npanel == MAX_PANELS) return -1;
  plot->panel[plot->npanel] = (panel){.unit = unit, .logarithmic = logarithmic};
  return plot->npanel++;
}

/* Signals share a panel with those of their unit, residuals with each other. */
static int panel_for(tbi_plot *plot, const tabi_signal *signal) {
  bool residual = is_residual(signal->name);
  for (int i = 0; i < plot->npanel; ++i) {
    const panel *p = &plot->panel[i];
    if (residual ? p->logarithmic : p->unit && strcmp(p->unit, signal->unit) == 0) return i;
  }
  return add_panel(plot, residual ? NULL : signal->unit, residual);
}

static void add_item(tbi_plot *plot, tabi_signal signal, int where) {
  if (where < 0 || plot->nitem == TBI_PLOT_SIGNALS) return;
  item *added = &plot->item[plot->nitem++];
  *added = (item){.signal = signal, .panel = where};
  for (int i = 0; i < plot->nitem - 1; ++i)
    added->place += plot->item[i].panel == where;
}

/* About what all of a panel are, if that is one thing and short. */
static void name_axes(tbi_plot *plot) {
  enum { SHORT = 22 };
  for (int i = 0; i < plot->npanel; ++i) {
    panel *p = &plot->panel[i];
    const char *about = NULL;
    bool same = true;
    for (int k = 0; k < plot->nitem; ++k) {
      if (plot->item[k].panel != i) continue;
      same &= !about || strcmp(about, plot->item[k].signal.about) == 0;
      about = plot->item[k].signal.about;
    }
    if (p->label[0] != '\0') continue;
    if (p->logarithmic) {
      set_label(p, "residual");
    } else {
      set_label(p, same && about && strlen(about) <= SHORT ? about : word_of(p->unit));
    }
  }
}

/* In the order of patterns; what two of them mean is drawn once. */
static void choose(tbi_plot *plot, const tabi_signals *signals, const char *pattern, int where,
                   bool *chosen) {
  int32_t count = tabi_signals_count(signals);
  memset(chosen, 0, sizeof *chosen * (size_t)count);
  (void)tabi_signals_match(signals, pattern, chosen);
  for (int32_t i = 0; i < count; ++i) {
    tabi_signal signal = tabi_signals_get(signals, i);
    for (int k = 0; k < plot->nitem && chosen[i]; ++k)
      chosen[i] = strcmp(plot->item[k].signal.name, signal.name) != 0;
    if (!chosen[i]) continue;
    if (where < 0) {
      add_item(plot, signal, panel_for(plot, &signal));
    } else {
      plot->panel[where].unit = signal.unit;
      add_item(plot, signal, where);
    }
  }
}

/* Several patterns a panel; of several robots all are shown. */
static void overview(tbi_plot *plot, const tabi_signals *signals, bool *chosen) {
  static const struct {
    const char *label;
    const char *pattern[4];
  } panels[] = {
      {"vertical force", {"ground.fz"}                           },
      {"x",              {"com.x", "zmp.x", "*.com.x", "*.zmp.x"}},
      {"y",              {"com.y", "zmp.y", "*.com.y", "*.zmp.y"}},
      {"margin",         {"margin", "*.margin"}                  },
      {"energy",         {"energy.total"}                        },
  };
  for (size_t i = 0; i < sizeof panels / sizeof *panels; ++i) {
    int before = plot->nitem;
    int where = add_panel(plot, NULL, false);
    for (int k = 0; k < 4 && panels[i].pattern[k]; ++k)
      choose(plot, signals, panels[i].pattern[k], where, chosen);
    set_label(&plot->panel[where], panels[i].label);
    if (plot->nitem == before) --plot->npanel;
  }
  static const char *const residuals[] = {"certificate.gap", "certificate.complementarity",
                                          "certificate.cone", "certificate.dissipation"};
  for (size_t i = 0; i < sizeof residuals / sizeof *residuals; ++i)
    choose(plot, signals, residuals[i], -1, chosen);
}

tbi_plot *tbi_plot_create(const tabi_signals *signals, const char *const *pattern, int count) {
  tbi_plot *plot = calloc(1, sizeof *plot);
  bool *chosen = calloc((size_t)tabi_signals_count(signals) + 1, sizeof *chosen);
  if (!plot || !chosen) {
    free(plot);
    free(chosen);
    return NULL;
  }
  plot->overview = count == 0;
  if (plot->overview) overview(plot, signals, chosen);
  for (int i = 0; i < count; ++i)
    choose(plot, signals, pattern[i], -1, chosen);
  name_axes(plot);
  free(chosen);
  return plot;
}

void tbi_plot_destroy(tbi_plot *plot) {
  if (!plot) return;
  for (int i = 0; i < plot->nrun; ++i) {
    for (int k = 0; k < plot->nitem; ++k)
      tbi_curve_free(&plot->run[i]->curve[k]);
    free(plot->run[i]);
  }
  free(plot);
}

static bool has_points(const tbi_plot *plot, int number, int i) {
  return plot->run[number]->curve[i].count > 0;
}

void tbi_plot_size(const tbi_plot *plot, int *panels, int *curves) {
  *panels = plot->npanel;
  *curves = 0;
  for (int number = 0; number < plot->nrun; ++number) {
    for (int i = 0; i < plot->nitem; ++i)
      *curves += has_points(plot, number, i);
  }
}

/* -- curves */

static int32_t index_of(const tabi_signals *signals, const char *name) {
  for (int32_t i = 0; i < tabi_signals_count(signals); ++i) {
    if (strcmp(tabi_signals_get(signals, i).name, name) == 0) return i;
  }
  return TABI_NONE;
}

int tbi_plot_add_run(tbi_plot *plot, const char *name, const tabi_signals *signals, double from,
                     double to) {
  run *r = plot->nrun < TBI_PLOT_RUNS ? calloc(1, sizeof *r) : NULL;
  if (!r) return -1;
  r->from = from;
  r->to = to;
  (void)snprintf(r->name, sizeof r->name, "%s", name);
  for (int i = 0; i < plot->nitem; ++i) {
    r->index[i] = index_of(signals, plot->item[i].signal.name);
    tbi_curve_begin(&r->curve[i], from, to, PIECES);
  }
  plot->run[plot->nrun] = r;
  return plot->nrun++;
}

void tbi_plot_add(tbi_plot *plot, int number, const double *value) {
  if (number < 0) return;
  run *r = plot->run[number];
  for (int i = 0; i < plot->nitem; ++i) {
    if (r->index[i] == TABI_NONE) continue;
    double shown = value[r->index[i]];
    if (plot->panel[plot->item[i].panel].logarithmic && shown < LEAST) shown = (double)NAN;
    tbi_curve_add(&r->curve[i], value[0], shown);
  }
}

/* -- the script */

static bool ends_at(const tbi_curve *curve, int32_t k) {
  return k < 0 || k >= curve->count || isnan(curve->point[k].value);
}

/* A point without neighbours becomes a short line, for else it would not be seen. */
static void put_curve(FILE *script, const tbi_curve *curve, int number, int i) {
  double aside = 4 * curve->width;
  (void)fprintf(script, "$c%d_%d << END\n", number, i);
  for (int32_t k = 0; k < curve->count; ++k) {
    const tbi_point *p = &curve->point[k];
    if (isnan(p->value)) {
      (void)fputc('\n', script);
    } else if (ends_at(curve, k - 1) && ends_at(curve, k + 1)) {
      (void)fprintf(script, "%.9g %.9g\n%.9g %.9g\n", p->time - aside, p->value, p->time + aside,
                    p->value);
    } else {
      (void)fprintf(script, "%.9g %.9g\n", p->time, p->value);
    }
  }
  (void)fputs("END\n", script);
}

static int members(const tbi_plot *plot, int where) {
  int count = 0;
  for (int i = 0; i < plot->nitem; ++i)
    count += plot->item[i].panel == where;
  return count;
}

static line line_of(const tbi_plot *plot, int number, int i) {
  const item *it = &plot->item[i];
  bool alone = members(plot, it->panel) == 1;
  line l = {.curve = i, .run = number, .colour = alone ? number : it->place, .dashes = number};
  if (plot->nrun == 1) l.dashes = l.colour / TBI_GNUPLOT_COLOURS;
  if (!alone && number > 0) return l;
  bool each = alone && plot->nrun > 1;
  bool unit = plot->panel[it->panel].logarithmic;
  const char *name = it->signal.name;
  if (unit) name = strchr(name, '.') + 1;
  (void)snprintf(l.legend, sizeof l.legend, "%.60s%s%.12s%s%s%.40s", name, unit ? " [" : "",
                 unit ? pretty(it->signal.unit) : "", unit ? "]" : "", each ? ", " : "",
                 each ? plot->run[number]->name : "");
  return l;
}

static int lines_of(tbi_plot *plot, int where) {
  line *lines = plot->line;
  int count = 0;
  for (int i = 0; i < plot->nitem; ++i) {
    for (int number = 0; number < plot->nrun && plot->item[i].panel == where; ++number)
      lines[count++] = line_of(plot, number, i);
  }
  if (plot->nrun == 1 || members(plot, where) == 1) return count;
  for (int number = 0; number < plot->nrun; ++number) {
    line *l = &lines[count++];
    *l = (line){.curve = -1, .colour = TBI_GNUPLOT_COLOURS - 1, .dashes = number};
    (void)snprintf(l->legend, sizeof l->legend, "%s", plot->run[number]->name);
  }
  return count;
}

/* Columns of a legend, as many as its longest text leaves, and how many lines it takes. */
static int legend_shape(const tbi_plot *plot, int count, int *rows) {
  int longest = 1;
  int entries = 0;
  for (int i = 0; i < count; ++i) {
    int length = (int)strlen(plot->line[i].legend);
    entries += length > 0;
    if (length > longest) longest = length;
  }
  int columns = (WIDTH - LEFT - RIGHT) / (LETTER * longest + SAMPLE);
  if (columns < 1) columns = 1;
  *rows = (entries + columns - 1) / columns;
  return columns;
}

static bool is_drawn(const tbi_plot *plot, const line *l) {
  return l->curve >= 0 && has_points(plot, l->run, l->curve);
}

static void put_lines(FILE *script, const tbi_plot *plot, int count) {
  for (int i = 0; i < count; ++i) {
    const line *l = &plot->line[i];
    // gnuplot wants a function or data before what stands only in the legend
    (void)fputs(i == 0 ? "plot 1/0 notitle, " : ", ", script);
    if (is_drawn(plot, l)) {
      (void)fprintf(script, "$c%d_%d using 1:2", l->run, l->curve);
    } else {
      (void)fputs("keyentry", script);
    }
    (void)fprintf(script, " with lines lt %d dt %d ", 1 + l->colour % TBI_GNUPLOT_COLOURS,
                  1 + l->dashes % 5);
    (void)fputs(l->legend[0] ? "title " : "notitle", script);
    if (l->legend[0]) tbi_gnuplot_quote(script, l->legend);
  }
  (void)fputc('\n', script);
}

static bool is_empty(const tbi_plot *plot, int where) {
  for (int i = 0; i < plot->nitem; ++i) {
    for (int number = 0; number < plot->nrun && plot->item[i].panel == where; ++number) {
      if (has_points(plot, number, i)) return false;
    }
  }
  return true;
}

/* Labels stand in a column, whatever the numbers at the axes. */
static void put_axes(FILE *script, const panel *p, double middle) {
  (void)fputs("set label 1 ", script);
  tbi_gnuplot_quote(script, p->label);
  (void)fprintf(script, " at screen %.6f, screen %.6f center rotate noenhanced\n", 16.0 / WIDTH,
                middle);
  (void)fputs("set autoscale y\n", script);
  (void)fputs(p->logarithmic
                  ? "unset offsets\nunset mytics\nset logscale y\nset format y '10^{%T}'\n"
                  : "set offsets 0, 0, graph 0.04, 0\nunset logscale y\n"
                    "set format y '%h'\n",
              script);
}

static void put_panel(FILE *script, tbi_plot *plot, int where, double top, double height) {
  static const char *const empty = "set yrange [0.1:1]\nset label 2 'no values' at graph 0.5, "
                                   "graph 0.5 center\n";
  int count = lines_of(plot, where);
  int rows = 0;
  int columns = legend_shape(plot, count, &rows);
  (void)fprintf(script, "set tmargin at screen %.6f\nset bmargin at screen %.6f\n",
                1 - top / height, 1 - (top + PANEL) / height);
  (void)fprintf(
      script,
      "set key at screen %.6f, screen %.6f left bottom horizontal Left reverse maxcols %d "
      "samplen 2 noenhanced\n",
      (LEFT - 6.0) / WIDTH, 1 - (top - 2) / height, columns);
  put_axes(script, &plot->panel[where], 1 - (top + 0.5 * PANEL) / height);
  (void)fputs(is_empty(plot, where) ? empty : "unset label 2\n", script);
  if (where == plot->npanel - 1)
    (void)fputs("set format x '%h'\nset xlabel 'time [s]' offset 0, 0.3\n", script);
  put_lines(script, plot, count);
}

static void put_data(FILE *script, const tbi_plot *plot, double *from, double *to) {
  for (int i = 0; i < plot->nrun; ++i) {
    const run *r = plot->run[i];
    *from = fmin(*from, r->from);
    *to = fmax(*to, r->to);
    for (int k = 0; k < plot->nitem; ++k)
      put_curve(script, &r->curve[k], i, k);
  }
}

static void put_script(FILE *script, tbi_plot *plot, const char *path, const char *title) {
  double top[MAX_PANELS] = {0};
  double height = HEADING;
  for (int i = 0; i < plot->npanel; ++i) {
    int rows = 0;
    (void)legend_shape(plot, lines_of(plot, i), &rows);
    top[i] = height + LEGEND * rows;
    height = top[i] + PANEL + GAP;
  }
  height += FOOT - GAP;
  double from = HUGE_VAL;
  double to = -HUGE_VAL;
  put_data(script, plot, &from, &to);
  (void)tbi_gnuplot_begin(script, path, WIDTH, (int)height);
  (void)fputs("set multiplot title ", script);
  tbi_gnuplot_quote(script, title);
  (void)fprintf(script,
                " noenhanced\nset lmargin at screen %.6f\nset rmargin at screen %.6f\n"
                "set xrange [%.9g:%.9g]\nset format x ''\n",
                (double)LEFT / WIDTH, 1 - (double)RIGHT / WIDTH, from, fmax(to, from + 1e-9));
  for (int i = 0; i < plot->npanel; ++i)
    put_panel(script, plot, i, top[i], height);
  (void)fputs("unset multiplot\n", script);
}

/* -- drawing */

bool tbi_plot_path(const char *command, const char *option, const char *path) {
  const char *dot = strrchr(path, '.');
  static const char *const endings[] = {".svg", ".png", ".pdf"};
  for (size_t i = 0; i < sizeof endings / sizeof *endings && dot; ++i) {
    if (strcmp(dot, endings[i]) == 0) return true;
  }
  tbi_usage_error(command, "%s draws .svg, .png and .pdf, not '%s'", option, path);
  return false;
}

bool tbi_plot_possible(const char *path, const char *word) {
  if (tbi_gnuplot_found()) return true;
  tabi_error err;
  tbi_fail(&err, TABI_ERR_FILE, (tabi_place){path, 1},
           "not drawn, for gnuplot cannot be started; install it (Debian: gnuplot-nox)");
  tbi_print_diagnostic(&err, word);
  return false;
}

static int fail(const char *path, const char *message) {
  tabi_error err;
  tbi_fail(&err, TABI_ERR_FILE, (tabi_place){path, 1}, "%s", message);
  tbi_print_diagnostic(&err, "error");
  return TBI_EXIT_INTERNAL;
}

static bool end_curves(tbi_plot *plot) {
  bool fine = true;
  for (int i = 0; i < plot->nrun; ++i) {
    for (int k = 0; k < plot->nitem; ++k) {
      tbi_curve_end(&plot->run[i]->curve[k]);
      fine &= !plot->run[i]->curve[k].no_memory;
    }
  }
  return fine;
}

/* An overview leaves out signals without values, as the balance of an arm. */
static void drop_empty(tbi_plot *plot) {
  for (int where = plot->npanel - 1; where >= 0 && plot->npanel > 1; --where) {
    if (!is_empty(plot, where)) continue;
    --plot->npanel;
    for (int i = where; i < plot->npanel; ++i)
      plot->panel[i] = plot->panel[i + 1];
    for (int i = 0; i < plot->nitem; ++i) {
      int *of = &plot->item[i].panel;
      *of = *of == where ? -1 : *of - (*of > where);
    }
  }
}

int tbi_plot_draw(tbi_plot *plot, const char *path, const char *title) {
  if (!end_curves(plot)) return tbi_out_of_memory();
  if (plot->overview) drop_empty(plot);
  if (!tbi_plot_possible(path, "error")) return TBI_EXIT_INTERNAL;
  FILE *script = tmpfile();
  if (!script) return fail(path, "no temporary file could be made");
  put_script(script, plot, path, title);
  bool drawn = tbi_gnuplot_draw(script, path);
  bool unread = !drawn && errno == ENXIO;
  (void)fclose(script);
  if (drawn) return TBI_EXIT_OK;
  if (unread) return fail(path, "cannot open: nobody reads from this pipe; start its reader first");
  return fail(path,
              "gnuplot could not draw the figure; does its folder exist, with room on the disk?");
}
