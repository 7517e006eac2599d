/* Records what a process does to the files of one folder, for soak/power.py.

   Loaded by LD_PRELOAD. CEIBO_POWER_FOLDER is the folder, CEIBO_POWER_LOG the record: per call a
   header (kind, file number, offset, length as 64-bit numbers) and, for a write, its bytes. A line
   that the program itself writes to the record's descriptor is not needed: it calls
   power_mark(number) instead. Calls of several threads are put in order by one lock. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { WRITE = 1, TRUNCATE = 2, SYNC = 3, NAME = 4, UNLINK = 5, MARK = 6 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int record = -1;
static int watched[1024]; /* descriptor -> number of its file + 1 */
static int files = 0;

static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_write)(int, const void *, size_t);
static int (*real_truncate)(int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_unlink)(const char *);
static int (*real_close)(int);
static int (*real_open)(const char *, int, ...);

static void *find(const char *name) { return dlsym(RTLD_NEXT, name); }

static void put(uint64_t kind, uint64_t file, uint64_t offset, const void *bytes, uint64_t length) {
  uint64_t header[4] = {kind, file, offset, length};
  if (record < 0) return;
  real_write(record, header, sizeof header);
  if (bytes && length) real_write(record, bytes, length);
}

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("CEIBO_POWER_LOG");
  real_pwrite = find("pwrite64");
  real_write = find("write");
  real_truncate = find("ftruncate64");
  real_fsync = find("fsync");
  real_fdatasync = find("fdatasync");
  real_unlink = find("unlink");
  real_close = find("close");
  real_open = find("open64");
  if (path) record = real_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int inside(const char *path) {
  const char *folder = getenv("CEIBO_POWER_FOLDER");
  return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

/* Each open gets a number of its own; the same name opened again is matched when replayed. */
static void watch(int fd, const char *path) {
  if (fd < 0 || fd >= 1024 || record < 0 || !inside(path)) return;
  pthread_mutex_lock(&lock);
  watched[fd] = ++files;
  put(NAME, files, 0, path, strlen(path));
  pthread_mutex_unlock(&lock);
}

static int file_of(int fd) { return fd >= 0 && fd < 1024 ? watched[fd] : 0; }

#define OPEN(NAME_)                                                       \
  int NAME_(const char *path, int flags, ...) {                           \
    va_list rest;                                                         \
    va_start(rest, flags);                                                \
    mode_t mode = va_arg(rest, mode_t);                                   \
    va_end(rest);                                                         \
    if (!real_open) start();                                              \
    int fd = real_open(path, flags, mode);                                \
    watch(fd, path);                                                      \
    return fd;                                                            \
  }
OPEN(open)
OPEN(open64)

int close(int fd) {
  if (!real_close) start();
  if (file_of(fd)) watched[fd] = 0;
  return real_close(fd);
}

#define PWRITE(NAME_)                                                     \
  ssize_t NAME_(int fd, const void *bytes, size_t length, off_t offset) { \
    int file = file_of(fd);                                               \
    if (!real_pwrite) start();                                            \
    if (!file) return real_pwrite(fd, bytes, length, offset);             \
    pthread_mutex_lock(&lock);                                            \
    ssize_t done = real_pwrite(fd, bytes, length, offset);                \
    if (done > 0) put(WRITE, file, offset, bytes, done);                  \
    pthread_mutex_unlock(&lock);                                          \
    return done;                                                          \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t write(int fd, const void *bytes, size_t length) {
  int file = file_of(fd);
  if (!real_write) start();
  if (!file) return real_write(fd, bytes, length);
  pthread_mutex_lock(&lock);
  off_t offset = lseek(fd, 0, SEEK_CUR);
  ssize_t done = real_write(fd, bytes, length);
  if (done > 0) put(WRITE, file, offset, bytes, done);
  pthread_mutex_unlock(&lock);
  return done;
}

#define TRUNC(NAME_)                                                      \
  int NAME_(int fd, off_t length) {                                       \
    int file = file_of(fd);                                               \
    if (!real_truncate) start();                                          \
    pthread_mutex_lock(&lock);                                            \
    int status = real_truncate(fd, length);                               \
    if (file && status == 0) put(TRUNCATE, file, length, 0, 0);           \
    pthread_mutex_unlock(&lock);                                          \
    return status;                                                        \
  }
TRUNC(ftruncate)
TRUNC(ftruncate64)

#define SYNCING(NAME_)                                                    \
  int NAME_(int fd) {                                                     \
    int file = file_of(fd);                                               \
    if (!real_##NAME_) start();                                           \
    int status = real_##NAME_(fd);                                        \
    if (file && status == 0) {                                            \
      pthread_mutex_lock(&lock);                                          \
      put(SYNC, file, 0, 0, 0);                                           \
      pthread_mutex_unlock(&lock);                                        \
    }                                                                     \
    return status;                                                        \
  }
SYNCING(fsync)
SYNCING(fdatasync)

int unlink(const char *path) {
  if (!real_unlink) start();
  pthread_mutex_lock(&lock);
  int status = real_unlink(path);
  if (status == 0 && inside(path)) put(UNLINK, 0, 0, path, strlen(path));
  pthread_mutex_unlock(&lock);
  return status;
}

/* The program acknowledges result `number`. */
void power_mark(uint64_t number) {
  pthread_mutex_lock(&lock);
  put(MARK, 0, number, 0, 0);
  pthread_mutex_unlock(&lock);
}
