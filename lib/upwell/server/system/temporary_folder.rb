# frozen_string_literal: true

require_relative "../../users_and_groups"
require_relative "../../log"

module Upwell
  class Server
    module System
      # The directory for request bodies that are too long for memory.
      module TemporaryFolder
        DEFAULT = "/tmp"

        # @return [String]
        def self.path
          ENV["TMPDIR"].to_s.empty? ? DEFAULT : ENV.fetch("TMPDIR")
        end

        # Checks the directory at the start, and warns about a problem that the first long upload would reveal.
        #
        # @param owner [Array(Integer, Integer), nil] user and group, when the process becomes another user
        def self.check(owner = nil)
          UsersAndGroups.as(owner) { tell }
        end

        def self.tell
          wrong = File.directory?(path) ? ("is not writable" unless File.writable?(path)) : "does not exist"
          Log.tell("the temporary directory #{path} #{wrong}: requests with large content get 503; set TMPDIR to a writable directory") if wrong
        end
        private_class_method :tell
      end
    end
  end
end
