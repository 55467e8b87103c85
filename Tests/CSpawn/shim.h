// Declares two functions that the system's header <spawn.h> declares only with _GNU_SOURCE.
#ifndef AFTERLINK_CSPAWN_H
#define AFTERLINK_CSPAWN_H

#include <spawn.h>

extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);

#endif
