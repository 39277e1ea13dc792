/*
 * What a C program pays: libmaxminddb looks up the addresses of a file and reads the nine fields of a
 * LocationRecord, or walks the tree only. The parent compiles it with -O2 and asks for one round at a time, so
 * that it takes turns with other contenders: a line with milliseconds, 0 for one pass over the file, is
 * answered by a line of JSON.
 *
 *   libmaxminddb DATABASE.mmdb ADDRESSES.txt fields|tree
 */
#include <maxminddb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCK 1000

static const char *const COUNTRY_CODE[] = {"country", "iso_code", NULL};
static const char *const COUNTRY_NAME[] = {"country", "names", "en", NULL};
static const char *const REGION_CODE[] = {"subdivisions", "0", "iso_code", NULL};
static const char *const REGION_NAME[] = {"subdivisions", "0", "names", "en", NULL};
static const char *const CITY[] = {"city", "names", "en", NULL};
static const char *const POSTAL_CODE[] = {"postal", "code", NULL};
static const char *const LATITUDE[] = {"location", "latitude", NULL};
static const char *const LONGITUDE[] = {"location", "longitude", NULL};
static const char *const TIME_ZONE[] = {"location", "time_zone", NULL};

static const char *const *const FIELDS[] = {COUNTRY_CODE, COUNTRY_NAME, REGION_CODE, REGION_NAME, CITY,
                                            POSTAL_CODE,  LATITUDE,     LONGITUDE,   TIME_ZONE};

/* Where answers go, so that the compiler cannot leave out the work. */
static volatile size_t kept;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

/* The lines of a file, each ended by a zero byte. */
static char **read_lines(const char *path, size_t *count) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) fail(path, "cannot be opened");
  fseek(file, 0, SEEK_END);
  size_t length = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(length + 1);
  if (text == NULL || fread(text, 1, length, file) != length) fail(path, "cannot be read");
  fclose(file);
  text[length] = '\0';
  size_t capacity = 0;
  for (size_t at = 0; at < length; at++) capacity += text[at] == '\n';
  char **lines = malloc((capacity + 1) * sizeof *lines);
  if (lines == NULL) fail(path, "is too long");
  *count = 0;
  for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) lines[(*count)++] = line;
  if (*count == 0) fail(path, "has no addresses");
  return lines;
}

/* Looks up one address: 1 when it has a record. */
static int ask(const MMDB_s *database, const char *address, int with_fields) {
  int text_error, error;
  MMDB_lookup_result_s result = MMDB_lookup_string(database, address, &text_error, &error);
  if (text_error != 0 || error != MMDB_SUCCESS || !result.found_entry) return 0;
  size_t sum = result.entry.offset;
  for (size_t field = 0; with_fields && field < sizeof FIELDS / sizeof *FIELDS; field++) {
    MMDB_entry_data_s data;
    error = MMDB_aget_value(&result.entry, &data, FIELDS[field]);
    if (error == MMDB_SUCCESS && data.has_data) sum += data.data_size + data.offset;
  }
  kept = sum;
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 4) fail(argv[0], "takes a database, a file of addresses, and \"fields\" or \"tree\"");
  MMDB_s database;
  int error = MMDB_open(argv[1], MMDB_MODE_MMAP, &database);
  if (error != MMDB_SUCCESS) fail(argv[1], MMDB_strerror(error));
  size_t count;
  char **addresses = read_lines(argv[2], &count);
  int with_fields = strcmp(argv[3], "fields") == 0;
  printf("{\"version\":\"libmaxminddb %s\"}\n", MMDB_lib_version());
  fflush(stdout);

  char line[64];
  size_t cursor = 0;
  while (fgets(line, sizeof line, stdin) != NULL) {
    double budget = atof(line) / 1e3;
    size_t items = 0, found = 0;
    double started = seconds(), elapsed = 0;
    do {
      for (size_t i = 0; i < BLOCK; i++) {
        found += (size_t)ask(&database, addresses[cursor], with_fields);
        if (++cursor == count) cursor = 0;
      }
      items += BLOCK;
      elapsed = seconds() - started;
    } while (budget > 0 ? elapsed < budget : items < count);
    printf("{\"items\":%zu,\"seconds\":%.9f,\"found\":%zu}\n", items, elapsed, found);
    fflush(stdout);
  }
  MMDB_close(&database);
  return 0;
}
