# frozen_string_literal: true

module Bench
  # What is asked of a server, by the load generator and by the check before it.
  #
  # @!attribute path [String]
  # @!attribute headers [Hash{String => String}]
  # @!attribute body [String, nil] of a POST
  # @!attribute script [String, nil] path of the wrk script that sends the same, when it is not a plain GET
  Request = Struct.new(:path, :headers, :body, :script, keyword_init: true) do
    def initialize(path: "/", headers: {}, body: nil, script: nil)
      super
    end
  end
end
