# frozen_string_literal: true

# This file replaces Opal's own: every program has upwell/boot/format.js.
