# frozen_string_literal: true

module Upwell
  class Server
    # Where the size of files is limited (RLIMIT_FSIZE), a write beyond it fails, and the client is answered so; but it also raises SIGXFSZ,
    # which would end the process.
    module FileSize
      SIGNAL = "XFSZ"
      DEFAULT = %w[DEFAULT SYSTEM_DEFAULT].freeze
      NOTHING = proc {}.freeze

      class << self
        # Has the signal do nothing, unless the application has said what it does. It is caught and not ignored: programs that the application
        # starts have its default action again.
        def survive
          return unless Signal.list.key?(SIGNAL)

          before = Signal.trap(SIGNAL, NOTHING)
          Signal.trap(SIGNAL, before) unless DEFAULT.include?(before)
        end
      end
    end
  end
end
