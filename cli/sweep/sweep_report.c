/* sweep_report.c - tables and charts of a study in a page of its own.
 *
 * The runs at the ends of each measure are done again and stand as replays in files beside the
 * page, REPORT.run17.html for run 17. */
#include "sweep/sweep_report.h"

#include "common/output.h"
#include "html.h"
#include "sweep/page_text.h"
#include "sweep/sweep_chart.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_REPLAYS = 12 };

static const char style[] =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:1000px;margin:2em auto;padding:0 1em;"
    "color:#222;background:#fff}table{border-collapse:collapse;margin:1em 0}"
    "td,th{white-space:nowrap;padding:.25em .7em;text-align:right;border-bottom:1px solid #ddd}"
    "td:first-child,th:first-child{text-align:left}svg text{font:11px system-ui,sans-serif;"
    "fill:#555}.axes{fill:none;stroke:#888}.band{fill:#2a6fdb;opacity:.18}"
    ".line{fill:none;stroke:#2a6fdb;stroke-width:1.6}circle{fill:#2a6fdb}.track{fill:#eee}"
    ".share{fill:#2a6fdb}.charts{display:flex;flex-wrap:wrap;gap:12px}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#16181c}"
    "td,th{border-color:#333}svg text{fill:#aaa}.track{fill:#2a2d33}a{color:#7fb0ff}}";

/* The page that is being written. */
typedef struct page {
  const tbi_sweep_summary *summary;
  const tabi_study *study;
  tbi_sweep_table table;
  const char *path;
  FILE *out;
  int64_t replay[MAX_REPLAYS]; /* runs that have one */
  int nreplay;
} page;

static void put_cell(FILE *out, double value) {
  if (isfinite(value)) (void)fprintf(out, "<td>%.4g</td>", value);
  if (!isfinite(value)) (void)fputs("<td>&ndash;</td>", out);
}

/* -- replays */

static void replay_path(const page *p, int64_t run, char *path, size_t size) {
  size_t length = strlen(p->path);
  bool html = length > 5 && strcmp(p->path + length - 5, ".html") == 0;
  (void)snprintf(path, size, "%.*s.run%" PRId64 ".html", (int)(html ? length - 5 : length), p->path,
                 run);
}

static bool has_replay(const page *p, int64_t run) {
  for (int i = 0; i < p->nreplay; ++i) {
    if (p->replay[i] == run) return true;
  }
  return false;
}

static bool write_replay(page *p, int64_t run) {
  char path[4200];
  char log[4220];
  tabi_error err = {0};
  tabi_study_row row = {.measure =
                            calloc((size_t)tabi_study_nmeasure(p->study) + 1, sizeof *row.measure)};
  if (!row.measure) return tbi_out_of_memory() == TBI_EXIT_OK;
  replay_path(p, run, path, sizeof path);
  (void)snprintf(log, sizeof log, "%s.tabi", path);
  const char *logs[] = {log};
  bool good = tabi_results_get(p->summary->results, run, &row) &&
              tabi_study_run(p->study, run, log, &row, &err) == TABI_OK &&
              tbi_html_write_logs(path, logs, 1, NULL, &err) == TABI_OK;
  (void)unlink(log);
  free(row.measure);
  if (!good) (void)tbi_print_error(&err);
  if (good) p->replay[p->nreplay++] = run;
  return good;
}

static void put_run(page *p, int64_t run) {
  char path[4200];
  if (run < 0) {
    (void)fputs("<td>&ndash;</td>", p->out);
    return;
  }
  if (!has_replay(p, run)) {
    (void)fprintf(p->out, "<td>%" PRId64 "</td>", run);
    return;
  }
  replay_path(p, run, path, sizeof path);
  const char *slash = strrchr(path, '/');
  (void)fputs("<td><a href='", p->out);
  tbi_page_text(p->out, slash ? slash + 1 : path);
  (void)fprintf(p->out, "'>%" PRId64 "</a></td>", run);
}

/* -- parts of the page */

static void put_measures(page *p) {
  FILE *out = p->out;
  (void)fputs(
      "<table><tr><th>measure</th><th>runs</th><th>mean or probability</th><th>95 % from</th>"
      "<th>to</th><th>min</th><th>median</th><th>max</th><th>run of min</th>"
      "<th>run of max</th></tr>\n",
      out);
  for (int32_t i = 0; i < tabi_study_nmeasure(p->study); ++i) {
    const tabi_measure_summary *m = &p->summary->measure[i];
    (void)fprintf(out, "<tr><td>%s</td><td>%" PRId64 "</td>", tabi_study_measure_name(p->study, i),
                  m->count);
    const double value[] = {m->mean.value, m->mean.low, m->mean.high, m->min, m->median, m->max};
    for (size_t k = 0; k < sizeof value / sizeof *value; ++k)
      put_cell(out, value[k]);
    put_run(p, m->min_run);
    put_run(p, m->max_run);
    (void)fputs("</tr>\n", out);
  }
  (void)fputs("</table>\n", out);
}

static void put_effects(const page *p, int32_t measure) {
  int32_t nparameter = tabi_study_nparameter(p->study);
  const tabi_effect *e = p->summary->effect + (ptrdiff_t)measure * nparameter;
  bool indices = nparameter > 0 && !isnan(e[0].first.value);
  (void)fprintf(p->out, "<table><tr><th>parameter</th><th>%s</th><th></th>%s</tr>\n",
                indices ? "first-order index" : "share of the variance",
                indices ? "<th>total index</th><th></th>" : "");
  for (int32_t k = 0; k < nparameter; ++k) {
    const tabi_interval *first = &e[k].first;
    const tabi_interval *total = &e[k].total;
    double value = indices ? first->value : e[k].main;
    (void)fprintf(p->out, "<tr><td>%s</td>", tabi_study_parameter_name(p->study, k));
    put_cell(p->out, isnan(value) ? value : fmax(0, value));
    (void)fputs("<td>", p->out);
    tbi_chart_share(value, first->low, first->high, p->out);
    (void)fputs("</td>", p->out);
    if (indices) {
      put_cell(p->out, total->value);
      (void)fputs("<td>", p->out);
      tbi_chart_share(total->value, total->low, total->high, p->out);
      (void)fputs("</td>", p->out);
    }
    (void)fputs("</tr>\n", p->out);
  }
  (void)fputs("</table>\n", p->out);
}

/* The two parameters with the largest effects; false: there are no two. */
static bool strongest(const page *p, int32_t measure, int32_t pair[2]) {
  int32_t nparameter = tabi_study_nparameter(p->study);
  const tabi_effect *e = p->summary->effect + (ptrdiff_t)measure * nparameter;
  if (nparameter < 2) return false;
  pair[0] = pair[1] = TABI_NONE;
  for (int turn = 0; turn < 2; ++turn) {
    for (int32_t k = 0; k < nparameter; ++k) {
      if (turn == 1 && k == pair[0]) continue;
      if (pair[turn] == TABI_NONE || e[k].main > e[pair[turn]].main) pair[turn] = k;
    }
  }
  return true;
}

static void put_measure(const page *p, int32_t measure) {
  int32_t pair[2];
  (void)fprintf(p->out, "<h2>%s</h2>\n", tabi_study_measure_name(p->study, measure));
  if (p->summary->measure[measure].count < 8) {
    (void)fputs("<p>Too few runs have it for charts.</p>\n", p->out);
    return;
  }
  put_effects(p, measure);
  (void)fputs("<div class='charts'>\n", p->out);
  for (int32_t k = 0; k < tabi_study_nparameter(p->study); ++k)
    tbi_chart_response(&p->table, k, measure, p->out);
  if (strongest(p, measure, pair)) tbi_chart_map(&p->table, pair[0], pair[1], measure, p->out);
  (void)fputs("</div>\n", p->out);
}

static void put_page(page *p) {
  const tbi_sweep_summary *s = p->summary;
  (void)fprintf(p->out, "<!doctype html><html lang='en'><meta charset='utf-8'>"
                        "<meta name='viewport' content='width=device-width'><title>");
  tbi_page_text(p->out, s->path);
  (void)fprintf(p->out, "</title><style>%s</style>\n<h1>", style);
  tbi_page_text(p->out, s->path);
  (void)fprintf(p->out, "</h1>\n<p>%" PRId64 " of %" PRId64 " runs", s->runs,
                tabi_study_nrun(p->study));
  if (s->failed > 0) (void)fprintf(p->out, ", %" PRId64 " failed or diverged", s->failed);
  (void)fputs(". Bands and bars are 95 % intervals. Runs with a link are replays; any other one: "
              "<code>tabi sweep ",
              p->out);
  tbi_page_text(p->out, s->path);
  (void)fputs(" --replay ID --log F</code>.</p>\n", p->out);
  put_measures(p);
  for (int32_t i = 0; i < tabi_study_nmeasure(p->study); ++i)
    put_measure(p, i);
  (void)fputs("</html>\n", p->out);
}

static bool write_replays(page *p) {
  for (int32_t i = 0; i < tabi_study_nmeasure(p->study); ++i) {
    const int64_t run[2] = {p->summary->measure[i].min_run, p->summary->measure[i].max_run};
    for (int k = 0; k < 2; ++k) {
      if (run[k] < 0 || has_replay(p, run[k]) || p->nreplay == MAX_REPLAYS) continue;
      if (!write_replay(p, run[k])) return false;
    }
  }
  return true;
}

bool tbi_sweep_report_write(const tbi_sweep_summary *summary, const char *path) {
  page p = {.summary = summary, .study = summary->study, .path = path};
  tbi_output output;
  if (!tbi_sweep_table_read(&p.table, summary->results)) return tbi_out_of_memory() == TBI_EXIT_OK;
  bool good = write_replays(&p) && tbi_output_begin(&output, path, true);
  if (good) {
    p.out = output.file;
    put_page(&p);
    good = tbi_output_end(&output, true);
  }
  tbi_sweep_table_free(&p.table);
  return good;
}
