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

# `private` in a text.
class Told
  class_eval "private\ndef wipe\n1\nend\nattr_reader :hidden\nalias erase wipe\npublic\ndef shown\n1\nend", __FILE__, __LINE__
  class_eval "def after\n1\nend", __FILE__, __LINE__
end
%i[wipe hidden erase shown after].each { |name| p Told.new.respond_to?(name) }
