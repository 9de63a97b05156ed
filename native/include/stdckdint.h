/* Of C23, for Debian's Ruby 3.4, whose compiler has it and Zig's has not. */
#ifndef UW_STDCKDINT_H
#define UW_STDCKDINT_H

#define ckd_add(result, a, b) ((bool)__builtin_add_overflow((a), (b), (result)))
#define ckd_sub(result, a, b) ((bool)__builtin_sub_overflow((a), (b), (result)))
#define ckd_mul(result, a, b) ((bool)__builtin_mul_overflow((a), (b), (result)))

#endif
