# frozen_string_literal: true

# In the place of what Opal has: see upwell/boot/format.js, which every program has.
