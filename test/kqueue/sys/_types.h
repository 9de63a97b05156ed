/* What the compiler's own headers ask FreeBSD's for: types that they have themselves. */
