# frozen_string_literal: true

# Texts that are evaluated, none of which stands where it is.
text = "def hi(name) = \"hi \#{name}\"\n"

# Gets a method.
class Greeter
end

Greeter.class_eval(text)
puts Greeter.new.hi("you")

text = "hi(self.class)"
2.times { puts Greeter.new.instance_eval(text) }

text = "def hey = 'hey'"
Greeter.instance_eval(text, "greeter.rb", 1)
puts Greeter.hey
puts Greeter.new.respond_to?(:hey)
Greeter.instance_eval { def ho = "ho" }
puts Greeter.ho

begin
  Greeter.class_eval
rescue ArgumentError
  puts "nothing to evaluate"
end
puts(Greeter.class_eval { name })
