/* test_xml.c - the tree, its lines, and numbers under any locale. */
#include "io/format.h"
#include "io/xml.h"
#include "support/near.h"
#include "support/scratch.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parses a copy without a zero at its end, so that reading too far is seen by sanitizers. */
static tabi_status parse(const char *text, tbi_xml **xml, tabi_error *error) {
  size_t size = strlen(text);
  char *copy = malloc(size > 0 ? size : 1);
  assert_non_null(copy);
  for (size_t i = 0; i < size; ++i)
    copy[i] = text[i];
  tabi_status status = tbi_xml_parse(copy, size, "f.xml", xml, error);
  free(copy);
  return status;
}

static void test_tree(void **state) {
  (void)state;
  tbi_xml *xml = NULL;
  tabi_error error;
  assert_int_equal(parse("<?xml version='1.0'?>\n<a x='1'>text\n<b/><c y='&lt;&#10;'/>\n<b z='2'/>"
                         "<!-- no -->\n</a>\n",
                         &xml, &error),
                   TABI_OK);
  tbi_xml_node *root = tbi_xml_root(xml);
  assert_string_equal(root->name, "a");
  assert_int_equal(root->place.line, 2);
  assert_string_equal(root->place.file, "f.xml");
  assert_string_equal(tbi_xml_get(root, "x"), "1");
  assert_null(tbi_xml_get(root, "y"));
  tbi_xml_node *b = tbi_xml_child(root, "b");
  assert_int_equal(b->place.line, 3);
  b = tbi_xml_next(b);
  assert_int_equal(b->place.line, 4);
  assert_ptr_equal(b->parent, root);
  assert_ptr_equal(root->last, b);
  assert_null(tbi_xml_next(b));
  assert_null(tbi_xml_child(b, "b"));
  // a control character would break the line of a message
  assert_string_equal(tbi_xml_get(tbi_xml_child(root, "c"), "y"), "< ");
  tbi_xml_destroy(xml);
}

static void test_byte_order_mark_and_declared_encoding(void **state) {
  (void)state;
  tbi_xml *xml = NULL;
  tabi_error error;
  assert_int_equal(parse("\xef\xbb\xbf<a/>", &xml, &error), TABI_OK);
  tbi_xml_destroy(xml);
  assert_int_equal(
      parse("<?xml version='1.0' encoding='ISO-8859-1'?><a b='\xc3\xa4'/>", &xml, &error), TABI_OK);
  assert_string_equal(tbi_xml_get(tbi_xml_root(xml), "b"), "\xc3\xa4");
  tbi_xml_destroy(xml);
}

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int line;
    const char *message;
  } cases[] = {
      {"<",                       1, "XML not well-formed: the text is cut off"              },
      {"<a>\n<b c='",             2, "XML not well-formed: unclosed tag 'b' opened at line 2"},
      {"<a>\n<b>\n</b",           3, "XML not well-formed: unclosed tag 'b' opened at line 2"},
      {"<a>\n<b>\n<",             3, "XML not well-formed: unclosed tag 'b' opened at line 2"},
      {"<a>\n<b>\n",              3, "XML not well-formed: unclosed tag 'b' opened at line 2"},
      {"<a>\n<!-- ",              2, "XML not well-formed: unclosed comment"                 },
      {"<a>\n<![CDATA[",          2, "XML not well-formed: unclosed tag 'a' opened at line 1"},
      {"<a b='1' b='2'/>",        1, "XML not well-formed: duplicate attribute"              },
      {"<a/>\n<b/>",              2, "XML not well-formed: junk after document element"      },
      {"<a>\n\x01</a>",           2, "not an XML text file (byte 0x01 at offset 4)"          },
      {"a",                       1, "not an XML text file (byte 0x61 at offset 0)"          },
      {"<a>\n\xed\xa0\x80</a>",   2, "invalid UTF-8 at byte 4; save as UTF-8"                },
      {"<a>\xc0\x80</a>",         1, "invalid UTF-8 at byte 3; save as UTF-8"                },
      {"<a>\xf4\x90\x80\x80</a>", 1, "invalid UTF-8 at byte 3; save as UTF-8"                },
      {"<a>\xe4",                 1, "invalid UTF-8 at byte 3; save as UTF-8"                },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    tbi_xml *xml = NULL;
    tabi_error error = {0};
    assert_int_equal(parse(cases[i].text, &xml, &error), TABI_ERR_PARSE);
    assert_null(xml);
    assert_string_equal(error.message, cases[i].message);
    assert_int_equal(error.line, cases[i].line);
  }
}

static void test_depth(void **state) {
  (void)state;
  char text[8 * 300] = "";
  for (int i = 0; i < TBI_XML_MAX_DEPTH; ++i)
    scratch_append(text, sizeof text, "<a>");
  for (int i = 0; i < TBI_XML_MAX_DEPTH; ++i)
    scratch_append(text, sizeof text, "</a>");
  tbi_xml *xml = NULL;
  tabi_error error;
  assert_int_equal(parse(text, &xml, &error), TABI_OK);
  tbi_xml_destroy(xml);
}

static void test_too_many_elements(void **state) {
  (void)state;
  const size_t size = 4 * ((size_t)TBI_XML_MAX_ITEMS + 1);
  char *text = malloc(size);
  assert_non_null(text);
  for (size_t i = 0; i < size; ++i)
    text[i] = "<a/>"[i % 4];
  text[2] = ' ';
  text[3] = '>';
  tbi_xml *xml = NULL;
  tabi_error error = {0};
  assert_int_equal(tbi_xml_parse(text, size, "f.xml", &xml, &error), TABI_ERR_PARSE);
  assert_string_equal(error.message, "more than 4000000 elements and attributes at line 1");
  free(text);
}

static void check_numbers(void) {
  static const struct {
    const char *text;
    double value;
  } good[] = {
      {"1.5",                    1.5                   },
      {" -2.5e-3\t",             -2.5e-3               },
      {"+.5",                    0.5                   },
      {"7.",                     7                     },
      {"1e-400",                 0                     },
      {"1E3",                    1000                  },
      {"0.1",                    0.1                   },
      {"-0",                     0                     },
      {"1.7976931348623157e308", 1.7976931348623157e308},
  };
  for (size_t i = 0; i < sizeof good / sizeof *good; ++i) {
    double value = 99;
    tbi_first_error error = {0};
    assert_true(tbi_xml_number(&error, good[i].text, (tabi_place){"f", 1}, "x", &value));
    assert_true(value == good[i].value);
  }
  static const struct {
    const char *text, *message;
  } bad[] = {
      {"1,5",      "x '1,5' is not a number (use a point)"                 },
      {"1,2,3",    "x '1,2,3' is not a number (separate numbers by spaces)"},
      {"1,",       "x '1,' is not a number (separate numbers by spaces)"   },
      {"",         "x '' is not a number"                                  },
      {" ",        "x '' is not a number"                                  },
      {".",        "x '.' is not a number"                                 },
      {"-",        "x '-' is not a number"                                 },
      {"one",      "x 'one' is not a number"                               },
      {"1e",       "x '1e': unexpected 'e' after number"                   },
      {"1.0kg",    "x '1.0kg': unexpected 'kg' after number"               },
      {"0x10",     "x '0x10': unexpected 'x10' after number"               },
      {"1 2",      "x: unexpected '2' after the number"                    },
      {"NaN",      "x 'NaN' is not a finite number"                        },
      {"nan(1)",   "x 'nan(1)' is not a finite number"                     },
      {"-inf",     "x '-inf' is not a finite number"                       },
      {"Infinity", "x 'Infinity' is not a finite number"                   },
      {"1e999",    "x '1e999' is not a finite number"                      },
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    double value = 99;
    tabi_error err = {0};
    tbi_first_error error = {.err = &err};
    assert_false(tbi_xml_number(&error, bad[i].text, (tabi_place){"f", 7}, "x", &value));
    assert_int_equal(error.status, TABI_ERR_PARSE);
    assert_string_equal(err.message, bad[i].message);
    assert_int_equal(err.line, 7);
    assert_true(value == 99);
  }
}

static void test_numbers(void **state) {
  (void)state;
  check_numbers();
}

static void test_numbers_german(void **state) {
  (void)state;
  scratch_need_german();
  check_numbers();
  // and the caller's locale is as it was
  assert_string_equal(localeconv()->decimal_point, ",");
  (void)setlocale(LC_NUMERIC, "C");
}

static void test_lists(void **state) {
  (void)state;
  double values[3] = {0};
  tabi_error err = {0};
  tbi_first_error error = {.err = &err};
  tabi_place place = {"f", 1};
  assert_int_equal(tbi_xml_numbers(&error, " 1 2\n 3 ", place, "x", values, 3), 3);
  assert_true(values[0] == 1 && values[1] == 2 && values[2] == 3);
  assert_int_equal(tbi_xml_numbers(&error, "", place, "x", values, 3), 0);
  assert_true(tbi_ok(&error));
  (void)tbi_xml_numbers(&error, "1 2 3 4", place, "x", values, 3);
  assert_int_equal(error.status, TABI_ERR_PARSE);
  assert_string_equal(err.message, "x: unexpected '4' after the last number");
  // after an error nothing is read, and the first error stays
  assert_int_equal(tbi_xml_numbers(&error, "7 8", place, "x", values, 3), 0);
  assert_false(tbi_xml_number(&error, "one", place, "y", values));
  assert_true(values[0] == 1);
  assert_string_equal(err.message, "x: unexpected '4' after the last number");
}

typedef struct heard {
  int count;
  tabi_error warning[80];
} heard;

static void listen(void *user, const tabi_error *warning) {
  heard *h = user;
  assert_true(h->count < 80);
  h->warning[h->count++] = *warning;
}

static void test_ignored(void **state) {
  (void)state;
  tbi_xml *xml = NULL;
  tabi_error error;
  static heard h;
  h.count = 0;
  assert_int_equal(
      parse("<a xmlns:q='u' p='1'>\n<b r='1'><c/></b>\n<b r='1'/><d><d/></d>\n<d/></a>", &xml,
            &error),
      TABI_OK);
  tbi_xml_node *b = tbi_xml_child(tbi_xml_root(xml), "b");
  (void)tbi_xml_next(b);
  tabi_load_def def = tabi_load_def_default();
  tbi_format_tell_ignored(NULL, tbi_xml_root(xml), &def);
  def.warn = listen;
  def.warn_user = &h;
  tbi_format_tell_ignored(NULL, tbi_xml_root(xml), &def);
  assert_int_equal(h.count, 4);
  assert_string_equal(h.warning[0].message, "attribute 'p' of <a> is ignored");
  assert_string_equal(h.warning[1].message, "attribute 'r' of <b> is ignored (2 times)");
  assert_string_equal(h.warning[2].message, "<c> is ignored");
  // elements inside an ignored one are not reported again
  assert_string_equal(h.warning[3].message, "<d> is ignored (2 times)");
  assert_int_equal(h.warning[3].line, 3);
  tbi_xml_destroy(xml);
}

/* A table and a prefix tell notes from warnings. */
static void test_ignored_severity(void **state) {
  (void)state;
  static const tbi_format_row rows[] = {
      {"a/b",   TBI_COSMETIC, NULL        },
      {"a@x",   TBI_COSMETIC, NULL        },
      {"c",     TBI_IGNORED,  "`d` counts"},
      {"gz:on", TBI_IGNORED,  NULL        },
      {"elbow", TBI_USED,     NULL        },
  };
  const tbi_format format = {"f", rows, 5};
  static const char *const notes[] = {"attribute 'x' of <a> is ignored", "<b> is ignored (2 times)",
                                      "<drake:d> is ignored"};
  static const char *const warnings[] = {
      "attribute 'y' of <a> is ignored: no such attribute in f", "<c> is ignored: 'd' counts",
      "<gz:on> is ignored",
      "<elbo> is ignored: no such element in <a> of f (did you mean 'elbow'?)",
      "<elbow> is ignored: it is not used in this place"};
  tbi_xml *xml = NULL;
  tabi_error error;
  static heard h;
  h.count = 0;
  assert_int_equal(
      parse("<a x='1' y='2'><b/><b/><c/><drake:d/><gz:on/><elbo/><elbow/></a>", &xml, &error),
      TABI_OK);
  tabi_load_def def = tabi_load_def_default();
  def.warn = listen;
  def.warn_user = &h;
  tbi_format_tell_ignored(&format, tbi_xml_root(xml), &def);
  tbi_xml_destroy(xml);
  assert_int_equal(h.count, 8);
  int heard_notes = 0;
  for (int i = 0; i < h.count; ++i) {
    bool note = h.warning[i].severity == TABI_SEVERITY_NOTE;
    int before = note ? heard_notes : i - heard_notes;
    const char *expected = "nothing more";
    if (note && before < 3) expected = notes[before];
    if (!note && before < 5) expected = warnings[before];
    assert_string_equal(h.warning[i].message, expected);
    heard_notes += note;
  }
  assert_int_equal(heard_notes, 3);
}

/* What an element without children says; comments may stand within. */
static void test_text(void **state) {
  (void)state;
  tbi_xml *xml = NULL;
  tabi_error error;
  assert_int_equal(
      parse("<a>lost<b>\n\t1 <!-- x -->2\n3 </b><c> </c><d>&lt;<e/>lost</d>lost</a>", &xml, &error),
      TABI_OK);
  tbi_xml_node *root = tbi_xml_root(xml);
  assert_string_equal(root->text, "");
  assert_string_equal(tbi_xml_child(root, "b")->text, "1 2 3");
  assert_string_equal(tbi_xml_child(root, "c")->text, "");
  assert_string_equal(tbi_xml_child(root, "d")->text, "");
  tbi_xml_destroy(xml);
}

static void test_many_kinds_ignored(void **state) {
  (void)state;
  char text[4096] = "<a>";
  for (int i = 0; i < 100; ++i) {
    scratch_append(text, sizeof text, "<n%d/>", i);
  }
  scratch_append(text, sizeof text, "</a>");
  tbi_xml *xml = NULL;
  tabi_error error;
  static heard h;
  h.count = 0;
  assert_int_equal(parse(text, &xml, &error), TABI_OK);
  tabi_load_def def = tabi_load_def_default();
  def.warn = listen;
  def.warn_user = &h;
  tbi_format_tell_ignored(NULL, tbi_xml_root(xml), &def);
  assert_int_equal(h.count, 65);
  assert_int_equal(h.warning[64].severity, TABI_SEVERITY_WARNING);
  assert_string_equal(h.warning[64].message,
                      "36 more elements and attributes of other kinds are ignored");
  tbi_xml_destroy(xml);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tree),
      cmocka_unit_test(test_byte_order_mark_and_declared_encoding),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_depth),
      cmocka_unit_test(test_too_many_elements),
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_numbers_german),
      cmocka_unit_test(test_lists),
      cmocka_unit_test(test_ignored),
      cmocka_unit_test(test_ignored_severity),
      cmocka_unit_test(test_text),
      cmocka_unit_test(test_many_kinds_ignored),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
