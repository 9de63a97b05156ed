# frozen_string_literal: true

# Has a method that is made of a text, and tells whether the compiler was needed.
class Evaluated
  class_eval("def self.two = 'two'", __FILE__, __LINE__)

  TWO = instance_eval("two", __FILE__, __LINE__)

  one = 1
  raise "eval does not see the variable" unless eval("one + 1", binding, __FILE__, __LINE__) == 2
  raise "eval gives another value" unless eval("1 + 2", nil, __FILE__, __LINE__) == 3

  # rubocop:disable-next Security/Eval, Style/EvalWithLocation, Style/DocumentDynamicEvalDefinition -- frames name the page
  WRONG = {
    "/wrong/instance" => ->(text) { instance_eval(text, "page.erb", 10) },
    "/wrong/binding" => ->(text) { eval(text, binding, "page.erb", 10) },
    "/wrong/class" => ->(text) { class_eval("def self.wrong\n#{text}\nend", "page.erb", 9) && wrong }
  }.freeze

  def self.call(env)
    return [200, {}, [first_frame { WRONG.fetch(env["PATH_INFO"]).call("one = 1\n\nnil.none(one)") }]] if env["PATH_INFO"].start_with?("/wrong")
    return [200, {}, [instance_eval("'late'", __FILE__, __LINE__)]] if env["PATH_INFO"] == "/late"

    [200, {}, [TWO, (" by the compiler" if defined?(::Opal::Compiler))].compact]
  end

  def self.first_frame
    yield
  rescue NoMethodError => e
    e.backtrace.first[/\A.*:\d+/]
  end
end

run Evaluated
