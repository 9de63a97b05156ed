# frozen_string_literal: true

# Opal's compiler, in the program: where texts of Ruby are evaluated. Loaded when the first one is.
require "opal-parser"
