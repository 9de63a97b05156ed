# frozen_string_literal: true

# Has a method that is made of a text, and tells whether the compiler was needed.
class Evaluated
  class_eval("def self.two = 'two'", __FILE__, __LINE__)

  def self.call(_env)
    [200, {}, [instance_eval("two", __FILE__, __LINE__), (" by the compiler" if defined?(::Opal::Compiler))].compact]
  end
end

run Evaluated
