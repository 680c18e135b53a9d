/* A disk that takes no more, for the program that this is preloaded into: what lies below TERP_FULL_BELOW takes
   TERP_FULL_AFTER bytes, and then ENOSPC is the answer; with TERP_FULL_READONLY nothing can be made there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static long long taken;

static int below(const char *path) {
    const char *top = getenv("TERP_FULL_BELOW");
    return top && path && strncmp(path, top, strlen(top)) == 0 && strncmp(path, "/dev/", 5) != 0;
}

static int is_full(int file, size_t more) {
    char link[64], path[4096];
    const char *room = getenv("TERP_FULL_AFTER");
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (!room || length < 0) return 0;
    path[length] = 0;
    if (!below(path)) return 0;
    taken += (long long)more;
    return taken > atoll(room);
}

static int refuses(const char *path, int flags) {
    int writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT);
    return writes && getenv("TERP_FULL_READONLY") && below(path);
}

ssize_t write(int file, const void *bytes, size_t count) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "write");
    if (is_full(file, count)) { errno = ENOSPC; return -1; }
    return real(file, bytes, count);
}

int mkdir(const char *path, mode_t mode) {
    static int (*real)(const char *, mode_t);
    if (!real) real = dlsym(RTLD_NEXT, "mkdir");
    if (refuses(path, O_CREAT)) { errno = EROFS; return -1; }
    return real(path, mode);
}

static int opened(const char *name, const char *path, int flags, mode_t mode) {
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, name);
    if (refuses(path, flags)) { errno = EROFS; return -1; }
    return real(path, flags, mode);
}

#define OPEN(name)                                   \
    int name(const char *path, int flags, ...) {     \
        va_list rest;                                \
        va_start(rest, flags);                       \
        mode_t mode = va_arg(rest, mode_t);          \
        va_end(rest);                                \
        return opened(#name, path, flags, mode);     \
    }
OPEN(open)
OPEN(open64)
