# frozen_string_literal: true

# No file becomes larger than that.
Process.setrlimit(:FSIZE, 1_000_000)
