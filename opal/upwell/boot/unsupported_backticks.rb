# frozen_string_literal: true

module Kernel
  # Raises an error, because JavaScript runtimes have no shell here.
  #
  # @raise [NotImplementedError]
  define_method(:`) do |command|
    raise NotImplementedError, "`#{command}` needs a shell, which JavaScript runtimes do not have; run the command outside the application"
  end
end
