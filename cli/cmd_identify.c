/* cmd_identify.c - `tabi identify`: parameters of a scene fitted to recordings. */
#include "common/cli.h"
#include "common/output.h"
#include "common/scene_options.h"
#include "sweep/fit_report.h"
#include "sweep/recording.h"

#include <errno.h>
#include <stdlib.h>

enum { OUT, REPORT, JOBS, JSON };

static bool parse_jobs(const char *text, int32_t *jobs) {
  char *rest = NULL;
  errno = 0;
  long number = text ? strtol(text, &rest, 10) : 0;
  *jobs = (int32_t)number;
  if (!text || (errno == 0 && *rest == '\0' && number >= 1 && number <= 1024)) return true;
  tbi_usage_error("identify", "--jobs must be a number from 1 to 1024");
  return false;
}

static int write_json(const tabi_fit *fit, const char *path) {
  tbi_output output;
  if (!tbi_output_begin(&output, path, true)) return TBI_EXIT_INTERNAL;
  int code = tbi_json_print(output.file, tbi_fit_json(fit));
  return tbi_output_end(&output, code == TBI_EXIT_OK) ? code : TBI_EXIT_INTERNAL;
}

static int tell(const tabi_fit *fit, const tbi_args *args, FILE *out) {
  int code = args->value[OUT] ? write_json(fit, args->value[OUT]) : TBI_EXIT_OK;
  if (code == TBI_EXIT_OK && args->value[REPORT] &&
      !tbi_fit_write_page(fit, args->word[0], args->value[REPORT]))
    code = TBI_EXIT_INTERNAL;
  if (code == TBI_EXIT_OK && args->value[JSON]) code = tbi_json_print(out, tbi_fit_json(fit));
  if (!args->value[JSON]) tbi_fit_print(fit, out);
  return code == TBI_EXIT_OK && !tabi_fit_converged(fit) ? TBI_EXIT_CHECK : code;
}

static int identify_command(const tbi_args *args, FILE *out) {
  int32_t jobs = 0;
  const tbi_file_use use[] = {
      {NULL,       args->word[0],       false},
      {"--out",    args->value[OUT],    true },
      {"--report", args->value[REPORT], true },
  };
  if (!parse_jobs(args->value[JOBS], &jobs) ||
      !tbi_check_files("identify", use, sizeof use / sizeof *use))
    return TBI_EXIT_USAGE;
  tabi_error err = {0};
  tabi_scene_def def = tbi_args_scene_def(args, NULL);
  def.warn = NULL;
  def.plugins = true;
  tabi_fit *fit = tabi_fit_load(args->word[0], &def, tbi_recording_column, NULL, &err);
  int code = TBI_EXIT_OK;
  if (!fit || tabi_fit_solve(fit, jobs, &err) != TABI_OK) {
    code = tbi_print_error(&err);
  } else {
    code = tell(fit, args, out);
  }
  tabi_fit_destroy(fit);
  return code;
}

const tbi_command tbi_cmd_identify = {
    .name = "identify",
    .usage = "identify FIT [--out F.json] [--report F.html] [--jobs N] [--json]",
    .summary = "find parameters of a scene that make it move as recorded",
    .text =
        "Fits parameters (stiffness, damping, friction, masses, ...) so that signals of a scene\n"
        "come near to recordings (CSV), by least squares. Prints estimates with standard errors\n"
        "and 95 % intervals, and which parameters the data cannot tell.\n"
        "\n"
        "examples:\n"
        "  tabi identify bush.yaml\n"
        "  tabi identify bush.yaml --out bush.json --report bush.html\n",
    .nword = 1,
    .word = "FIT",
    .options = {[OUT] = {"--out", "F", "write the result as JSON", false, NULL},
                [REPORT] = {"--report", "F", "write a page (HTML) with residuals over time", false,
                            NULL},
                [JOBS] = {"--jobs", "N", "runs at a time; default: one for each processor", false,
                          NULL},
                [JSON] = {"--json", NULL, "print one JSON object", false, NULL}},
    .loads = true,
    .run = identify_command,
};
