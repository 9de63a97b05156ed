# frozen_string_literal: true

require "upwell/boot/pack" # in the place of what Opal has
