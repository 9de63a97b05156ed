# frozen_string_literal: true

# The pairs of backend and mode of a server test: the default backend in each mode, and each other backend in one mode. The mode of the
# other backends differs from file to file, so the suite covers every pair. UPWELL_TEST_PAIRS=all: each backend in each mode.
module BackendModePairs
  class << self
    # @param modes [Array<String>]
    # @return [Array<Array(String, String)>]
    def of(modes, path)
      return BACKENDS.product(modes) if ENV["UPWELL_TEST_PAIRS"] == "all"

      first, *others = BACKENDS
      others.each_with_index.map { |backend, index| [backend, modes[(File.basename(path).sum + index) % modes.size]] }
        .unshift(*[first].compact.product(modes))
    end
  end

  # @param modes [Array<String>]
  # @yieldparam backend [String]
  # @yieldparam mode [String]
  def each_backend_and_mode(modes = MODES)
    BackendModePairs.of(modes, caller_locations(1, 1).first.path).each do |backend, mode|
      TestResultsByBackend.on(backend)
      yield backend, mode
    end
  end
end
