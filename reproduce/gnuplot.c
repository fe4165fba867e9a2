/* gnuplot.c - starts gnuplot with a script on its input.
 *
 * gnuplot does not notice when a disk is full, so what it draws comes through a pipe and is written
 * here. */
#include "gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Starts gnuplot with an option, or with a script on its input; its output goes to a pipe. */
static bool start(const char *option, FILE *script, int output, pid_t *child) {
  char *argv[] = {(char *)"gnuplot", (char *)option, NULL};
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return false;
  int bad = 0;
  if (script) bad |= posix_spawn_file_actions_adddup2(&actions, fileno(script), 0);
  bad |= posix_spawn_file_actions_adddup2(&actions, output, 1);
  // it warns of curves that are constant
  bad |= posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  bool started = !bad && posix_spawnp(child, argv[0], &actions, NULL, argv, environ) == 0;
  (void)posix_spawn_file_actions_destroy(&actions);
  return started;
}

/* All that comes out of a pipe, also when it cannot be kept: else gnuplot would wait for ever. */
static void copy(int from, FILE *to) {
  char bytes[4096];
  for (;;) {
    ssize_t size = read(from, bytes, sizeof bytes);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    if (to && !ferror(to)) (void)fwrite(bytes, 1, (size_t)size, to);
  }
}

/* Its output goes to a file, if there is one. */
static bool run_gnuplot(const char *option, FILE *script, FILE *output) {
  int ends[2];
  pid_t child = 0;
  int status = -1;
  if (pipe(ends) != 0) return false;
  (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  bool started = start(option, script, ends[1], &child);
  (void)close(ends[1]);
  copy(ends[0], output);
  (void)close(ends[0]);
  while (started && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return started && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool tbi_gnuplot_found(void) { return run_gnuplot("--version", NULL, NULL); }

/* Never waits: a pipe that nobody reads is refused, with ENXIO. */
static FILE *open_figure(const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
  if (fd < 0) return NULL;
  int flags = fcntl(fd, F_GETFL);
  if (flags >= 0) (void)fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
  FILE *file = fdopen(fd, "wb");
  if (!file) (void)close(fd);
  return file;
}

bool tbi_gnuplot_draw(FILE *script, const char *path) {
  bool fine = fflush(script) == 0 && ferror(script) == 0;
  rewind(script);
  errno = 0;
  FILE *file = fine ? open_figure(path) : NULL;
  if (!file) return false;
  fine = run_gnuplot(NULL, script, file);
  fine &= ferror(file) == 0;
  return fclose(file) == 0 && fine;
}

/* One pixel of the screen is two of a PNG file and 1/100 inch on paper. */
static bool put_terminal(FILE *script, const char *path, int width, int height) {
  const char *dot = strrchr(path, '.');
  if (dot && strcmp(dot, ".svg") == 0) {
    (void)fprintf(script,
                  "set terminal svg size %d,%d dynamic background rgb 'white' font 'sans,13'\n",
                  width, height);
  } else if (dot && strcmp(dot, ".png") == 0) {
    (void)fprintf(script,
                  "set terminal pngcairo size %d,%d background rgb 'white' font 'sans,10' "
                  "fontscale 2 linewidth 2 pointscale 2\n",
                  2 * width, 2 * height);
  } else if (dot && strcmp(dot, ".pdf") == 0) {
    (void)fprintf(script,
                  "set terminal pdfcairo size %.2fin,%.2fin background rgb 'white' font 'sans,9.5' "
                  "fontscale 0.8 linewidth 1.6\n",
                  0.01 * width, 0.01 * height);
  } else {
    return false;
  }
  return true;
}

bool tbi_gnuplot_begin(FILE *script, const char *path, int width, int height) {
  static const char *const colours[TBI_GNUPLOT_COLOURS] = {
      "#1f5fa8", "#d1495b", "#2e8b57", "#e08e0b", "#7a5195", "#1a9fb0", "#8a5a3c", "#555555"};
  if (!put_terminal(script, path, width, height)) return false;
  (void)fputs(
      "set encoding utf8\n"
      "set grid lt 1 lw 0.5 lc rgb '#dddddd'\nset border lc rgb '#444444'\nset tics nomirror\n"
      "set key top right samplen 2\n",
      script);
  for (int i = 0; i < TBI_GNUPLOT_COLOURS; ++i)
    (void)fprintf(script, "set linetype %d lc rgb '%s' lw 1.5 pt 7 ps 0.5\n", i + 1, colours[i]);
  return true;
}

/* Bytes of the letter that a text begins with, or 0 where it is not UTF-8, as after a cut. */
static int letter_size(const char *text) {
  unsigned char first = (unsigned char)text[0];
  int size = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (first > 0xf4) return 0;
  for (int i = 1; i < size; ++i) {
    if (((unsigned char)text[i] & 0xc0U) != 0x80U) return 0;
  }
  return size;
}

/* An SVG file with anything else than UTF-8 in it is shown by no browser. */
void tbi_gnuplot_quote(FILE *script, const char *text) {
  (void)fputc('\'', script);
  while (*text) {
    int size = letter_size(text);
    if (*text == '\'') {
      /* two quotes for one do not work where several follow each other */
      (void)fputs("'.\"'\".'", script);
    } else if (size == 0 || (unsigned char)*text < ' ') {
      (void)fputc(size == 0 ? '?' : ' ', script);
    } else {
      (void)fwrite(text, 1, (size_t)size, script);
    }
    text += size > 0 ? size : 1;
  }
  (void)fputc('\'', script);
}
