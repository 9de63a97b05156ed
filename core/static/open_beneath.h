/* Opens files beneath a directory only. No "..", absolute symbolic link, or race with a rename leads out of it.
 * Symbolic links that lead inside are followed. */
#ifndef UW_STATIC_OPEN_BENEATH_H
#define UW_STATIC_OPEN_BENEATH_H

#define UW_OPEN_BENEATH_LINKS_MAX 40 /* symbolic links followed; above: -ELOOP */
#define UW_OPEN_BENEATH_DEPTH_MAX 64 /* directories in the fallback, each an open descriptor; above: -ENAMETOOLONG */

/* Opens `path` relative to the directory `root` ("" is the directory itself) with openat2(2), or segment by segment
 * without it. `flags` as for open(2); O_CLOEXEC is added. Returns a descriptor; -EXDEV when the path leads outside; or
 * another -errno. */
int uw_open_beneath(int root, const char *path, int flags);

/* Works without openat2(2). */
int uw_open_beneath_by_steps(int root, const char *path, int flags);

#endif
