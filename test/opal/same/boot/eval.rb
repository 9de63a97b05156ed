# frozen_string_literal: true

# rubocop:disable Security/Eval, Style/EvalWithLocation -- that is what is tested

# Texts that are evaluated by eval alone: nothing else in this file asks for the compiler.
text = "1 + 2"
p eval(text)
number = 5
p eval("number + 1")
p eval("number + 2", binding)
p binding.eval("number + 3")
p eval("[1, 2].map { |one| one * 2 }")

# The variables around a text, in blocks as well.
p eval("[1, 2].map { |one| one * number }", binding)
eval("number = 6", binding)
p number
eval("[1].each { number += 1 }")
p number
p eval("other = 3; other + number", binding)

# Takes a text as a template engine does.
class Template
  def initialize(text)
    @text = text
  end

  def name
    "the name"
  end

  def render(list)
    list.size
    eval(@text, binding, "template.erb", 1)
  end
end

text = "_out = +''; list.each do |one|; _out << 'a ' << one.to_s << name; end; _out"
puts Template.new(text).render([1, 2])
text = "_out = ''.dup; list.each do |one|; _out << \"\#{one}, \"; end; _out.upcase"
puts Template.new(text).render(%w[a b])
p eval("7 / 2"), eval("\"ab\"[/b/]"), eval("'x1' =~ /(\\d)/; $1")
p eval(":a.class"), eval("case 'abc' when /b(.)/ then $1 end")

begin
  eval("1 +")
rescue SyntaxError
  puts "a syntax error"
end
begin
  eval("no_such_name")
rescue NameError
  puts "a name error"
end
p Kernel.eval("3 * 4")
# rubocop:enable Security/Eval, Style/EvalWithLocation
