# frozen_string_literal: true

# Required before a command: as a library might do it.
trap("PIPE", "SYSTEM_DEFAULT")
