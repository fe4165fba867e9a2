# embed.cmake - cmake -D page=FILE -D out=FILE.c -P embed.cmake
#
# A page as C: rows of equal length in one array, each a string of hexadecimal escapes, which
# compilers read much faster than a list of numbers.

set(row 1000)
file(SIZE ${page} size)
file(WRITE ${out} "/* made by embed.cmake */\n#include \"html.h\"\n\n"
     "static const char rows[][${row}] = {\n")
set(offset 0)
while(offset LESS size)
  file(READ ${page} bytes OFFSET ${offset} LIMIT ${row} HEX)
  string(REGEX REPLACE "(..)" "\\\\x\\1" bytes ${bytes})
  file(APPEND ${out} "    \"${bytes}\",\n")
  math(EXPR offset "${offset} + ${row}")
endwhile()
file(APPEND ${out} "};\n\nconst char *tbi_page(size_t *size) {\n  *size = ${size};\n"
     "  return (const char *)rows;\n}\n")
