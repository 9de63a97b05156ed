# frozen_string_literal: true

module Bench
  # The limit of open descriptors of this process, and of those that it starts.
  module DescriptorLimit
    # Raises it as far as it may be raised; ends the program when that is too little.
    #
    # @param connections [Integer] how many there will be
    # @param spare [Integer] descriptors for all else
    def self.allow(connections, spare)
      hard_limit = Process.getrlimit(:NOFILE).last
      if connections + spare > hard_limit
        abort "#{connections} connections need a limit of descriptors above the #{hard_limit} of here (ulimit -Hn)"
      end

      Process.setrlimit(:NOFILE, hard_limit)
    end
  end
end
