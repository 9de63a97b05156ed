# frozen_string_literal: true

# Has a method that is made of a text, and tells whether the compiler was needed.
class Evaluated
  class_eval("def self.two = 'two'", __FILE__, __LINE__)

  TWO = instance_eval("two", __FILE__, __LINE__)

  def self.call(env)
    return [200, {}, [instance_eval("'late'", __FILE__, __LINE__)]] if env["PATH_INFO"] == "/late"

    [200, {}, [TWO, (" by the compiler" if defined?(::Opal::Compiler))].compact]
  end
end

run Evaluated
