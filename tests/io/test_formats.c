/* test_formats.c - docs/formats.md shows the tables of the readers, row by row. */
#include "io/format.h"
#include "support/near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_document(void) {
  FILE *file = fopen(TABI_SOURCE_DIR "/docs/formats.md", "rb");
  assert_non_null(file);
  static char text[400000];
  size_t size = fread(text, 1, sizeof text - 1, file);
  (void)fclose(file);
  assert_true(size < sizeof text - 1);
  text[size] = '\0';
  return text;
}

static void write_row(char *line, size_t size, const tbi_format_row *row) {
  static const char *const words[] = {
      [TBI_USED] = "used",
      [TBI_APPROXIMATED] = "approximated",
      [TBI_COSMETIC] = "ignored, note",
      [TBI_IGNORED] = "ignored, warning",
  };
  (void)snprintf(line, size, "| `%s` | %s | %s%s|\n", row->name, words[row->use],
                 row->how ? row->how : "", row->how ? " " : "");
}

/* The table of a format, with every line that differs; it ends at an empty line. */
static int compare(const tbi_format *format, const char *document) {
  char line[512];
  (void)snprintf(line, sizeof line, "\n## %s\n", format->name);
  const char *at = strstr(document, line);
  if (at) at = strstr(at, "|---|---|---|\n");
  int wrong = at ? 0 : 1;
  if (at) at += strlen("|---|---|---|\n");
  for (size_t i = 0; i < format->nrow; ++i) {
    write_row(line, sizeof line, &format->rows[i]);
    bool same = wrong == 0 && strncmp(at, line, strlen(line)) == 0;
    if (same) at += strlen(line);
    if (!same) ++wrong;
  }
  if (wrong == 0 && at[0] == '|') ++wrong;
  if (wrong == 0) return 0;
  // the whole table, to be copied
  print_message("## %s\n\n| | | |\n|---|---|---|\n", format->name);
  for (size_t i = 0; i < format->nrow; ++i) {
    write_row(line, sizeof line, &format->rows[i]);
    print_message("%s", line);
  }
  return wrong;
}

static const tbi_format *const formats[] = {&tbi_urdf_format,
                                            &tbi_sdf_format,
                                            &tbi_vrml_format,
                                            &tbi_body_format,
                                            &tbi_mjcf_format,
                                            &tbi_hrp_project_format,
                                            NULL};

static void test_document(void **state) {
  (void)state;
  const char *document = read_document();
  int wrong = 0;
  for (size_t i = 0; formats[i]; ++i)
    wrong += compare(formats[i], document);
  if (wrong > 0) fail_msg("docs/formats.md differs from the tables in src/io: see above");
}

/* The row that is found for what a row itself names: a general one may not stand before it. */
static const tbi_format_row *find_by_own_name(const tbi_format *format, const char *row) {
  char name[160];
  (void)snprintf(name, sizeof name, "%s", row);
  char *at = strchr(name, '@');
  char *slash = strchr(name, '/');
  if (at) *at = '\0';
  if (slash) *slash = '\0';
  tbi_xml_node parent = {.name = name};
  tbi_xml_node node = {.name = slash ? slash + 1 : name, .parent = slash ? &parent : NULL};
  return tbi_format_find(format, &node, at ? at + 1 : NULL);
}

static void test_every_row_is_reached(void **state) {
  (void)state;
  for (size_t i = 0; formats[i]; ++i) {
    for (size_t j = 0; j < formats[i]->nrow; ++j) {
      const tbi_format_row *row = &formats[i]->rows[j];
      const tbi_format_row *found = find_by_own_name(formats[i], row->name);
      if (found != row)
        fail_msg("%s: '%s' stands before '%s'", formats[i]->name, found->name, row->name);
    }
  }
}

static void test_find(void **state) {
  (void)state;
  static const tbi_format_row rows[] = {
      {"a/b",   TBI_USED,         NULL},
      {"b",     TBI_COSMETIC,     NULL},
      {"b@c",   TBI_APPROXIMATED, NULL},
      {"*@any", TBI_IGNORED,      NULL},
  };
  const tbi_format format = {"f", rows, 4};
  tbi_xml_node a = {.name = "a"};
  tbi_xml_node b = {.name = "b", .parent = &a};
  tbi_xml_node inner = {.name = "b", .parent = &b};
  assert_ptr_equal(tbi_format_find(&format, &b, NULL), &rows[0]);
  assert_ptr_equal(tbi_format_find(&format, &inner, NULL), &rows[1]);
  assert_ptr_equal(tbi_format_find(&format, &b, "c"), &rows[2]);
  assert_ptr_equal(tbi_format_find(&format, &a, "any"), &rows[3]);
  assert_null(tbi_format_find(&format, &a, NULL));
  assert_null(tbi_format_find(&format, &a, "c"));
  assert_null(tbi_format_find(NULL, &a, NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_document),
      cmocka_unit_test(test_every_row_is_reached),
      cmocka_unit_test(test_find),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
