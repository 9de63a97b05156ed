# frozen_string_literal: true

require "upwell/boot/pack" # replaces Opal's own
