# backtick_javascript: true
# frozen_string_literal: true

module Kernel
  alias raise_made raise

  # A class raised without a message is created without one: its initialize may have a default message.
  def raise(*arguments)
    exception, *rest = *arguments
    return raise_made(*arguments) unless `exception.$$is_exception || exception.$$is_class` && exception.respond_to?(:exception)

    cause = rest.pop if Hash === rest.last && rest.last.key?(:cause)
    made = rest.empty? ? exception.exception : exception.exception(rest.first)
    `made.cause = #{cause[:cause]}` if cause
    raise_made(made, nil, rest[1])
  end

  alias fail raise
end
