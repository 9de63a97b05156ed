# backtick_javascript: true
# frozen_string_literal: true

# A request to end the program.
class SystemExit
  # @return [Integer]
  attr_reader :status

  # @param status [Boolean, Integer, String] a String is the message
  def initialize(status = true, message = "exit")
    super(String === status ? status : message)
    @status = { true => 0, false => 1 }.fetch(status) { Integer === status ? status : 0 }
  end

  # @return [Boolean]
  def success?
    @status.zero?
  end
end

module Kernel
  def exit(status = true)
    raise SystemExit, status
  end

  def abort(message = nil)
    warn(message) if message
    raise SystemExit.new(1, message || "exit")
  end

  def exit!(status = false)
    `Opal.gvars.__at_exit__ = []`
    `process.exit(#{SystemExit.new(status).status})`
  end
end

# Exit handlers run from last to first, however the process ends.
%x{
  process.on("exit", () => {
    while (Opal.gvars.__at_exit__?.length > 0) Opal.gvars.__at_exit__.pop().$call();
  });
}
