/* Opens what lies beneath a folder, and nothing else: no "..", no absolute symbolic link, and no race with a rename
 * leads out of it. Symbolic links that stay inside are followed. */
#ifndef UW_STATIC_OPEN_BENEATH_H
#define UW_STATIC_OPEN_BENEATH_H

#define UW_OPEN_BENEATH_LINKS_MAX 40 /* symbolic links followed; above: -ELOOP */
#define UW_OPEN_BENEATH_DEPTH_MAX 64 /* folders in the fallback, each an open descriptor; above: -ENAMETOOLONG */

/* Opens `path`, relative to the folder `root` ("" is the folder itself), by one call, or step by step where the
 * kernel does not have it. `flags` as for open(2); O_CLOEXEC is added. Returns a descriptor; -EXDEV when the path leads
 * outside; or another -errno. */
int uw_open_beneath(int root, const char *path, int flags);

/* The same without that call. */
int uw_open_beneath_by_steps(int root, const char *path, int flags);

#endif
