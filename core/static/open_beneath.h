/* Opens files beneath a directory only. No "..", absolute symbolic link or concurrent rename leads out of it. Symbolic
 * links that lead inside are followed. */
#ifndef UW_STATIC_OPEN_BENEATH_H
#define UW_STATIC_OPEN_BENEATH_H

#define UW_OPEN_BENEATH_LINKS_MAX 40 /* symbolic links of one path. Beyond: -ELOOP */
#define UW_OPEN_BENEATH_DEPTH_MAX 64 /* open directories without openat2(2). Beyond: -ENAMETOOLONG */

/* Opens `path` relative to the directory `root` with openat2(2), or segment by segment without it. "" is the directory
 * itself. `flags` as for open(2), and O_CLOEXEC is added. Returns a descriptor, -EXDEV for a path that leads outside,
 * or another -errno. */
int uw_open_beneath(int root, const char *path, int flags);

/* Same as uw_open_beneath, without openat2(2). */
int uw_open_beneath_by_steps(int root, const char *path, int flags);

#endif
