# frozen_string_literal: true

# What public_send and respond_to? say of private methods.
class Actions
  attr_accessor :format

  def index = "index"
  def open = "mine"
  def protect = secret

  private def inline = "inline"

  protected

  def guarded = 1

  private

  attr_reader :hidden
  attr_accessor :both

  def secret = "secret"
  def again = "again"
  define_method(:defined) { 1 }

  public

  def last = "last"
end

class Below < Actions
  public :again
  private :index
  def secret = "now public"
end

class Ghost
  def method_missing(name, *) = "ghost of #{name}"
  def respond_to_missing?(name, all = false) = name == :boo || super

  private

  def seen = 1
end

def ask(object, *names)
  names.each do |name|
    answer = begin
      object.public_send(name)
    rescue NoMethodError
      "refused"
    end
    puts "#{object.class} #{name} #{answer} #{object.respond_to?(name)} #{object.respond_to?(name, true)}"
  end
end

names = %i[index open format inline guarded hidden both secret again defined last protect]
ask(Actions.new, *names)
ask(Below.new, *names)
ask(Ghost.new, :seen, :boo, :puts)
ask(Object.new, *%w[exit system eval ` puts print sleep abort require load raise format sprintf rand binding initialize gets open warn at_exit])
p Actions.new.send(:secret), Actions.new.__send__(:inline), Actions.new.method(:secret).call, "x".public_send(:upcase), 5.public_send(:+, 3), [3, 1].public_send(:sort)
p Actions.private_method_defined?(:secret), Actions.private_method_defined?(:index), Actions.private_instance_methods(false).map(&:to_s).sort, Below.private_method_defined?(:index)
p $stdout.respond_to?(:puts), Kernel.respond_to?(:exit), [].respond_to?(:select), Class.respond_to?(:new), Object.respond_to?(:inherited), Struct.new(:format).new(1).public_send(:format)
class Single
  def self.make = new
  private_class_method :new
  class << self
    private

    def hush = 1
  end
end
p Single.make.class, Single.respond_to?(:new), Single.respond_to?(:hush), Single.respond_to?(:hush, true)
begin
  Single.public_send(:hush)
rescue NoMethodError => e
  p e.name
end
p Actions.instance_methods(false).map(&:to_s).sort, Actions.public_instance_methods(false).map(&:to_s).sort, Ghost.instance_methods(false).map(&:to_s).include?("seen")

# Bodies that are blocks, branches within a body, aliases, and classes that are opened again.
Wiped = Struct.new(:a) do
  def seen = 1

  private

  attr_accessor :hidden

  def wipe = 1
end
made = Class.new do
  private

  def wipe = 1
  1.times { define_method(:looped) { 1 } }
  %w[one two].each { |name| define_method(name) { 1 } }
  %w[three four].each_slice(1) { |name,| define_method(name) { 1 } }
  if RUBY_VERSION
    def branched = 1
  else
    def elsewhere = 1
  end
  begin
    def begun = 1
  rescue StandardError
    p 1
  end
  attr_reader(*%i[splat many])
  alias_method :text, :to_s
  Module.new { def within = 1 }

  public

  def open = 1
end
Mixed = Module.new do
  protected

  def wipe = 1
end
Object.new.singleton_class.class_eval do
  private

  def alone = 1
end
class Mixes
  include Mixed

  if RUBY_VERSION
    private
    def inner = 1
  end
  def after = 1
  private def erased = 1

  public

  alias_method :erase, :erased
  alias remove erased
  alias shown public_send
end
Mixes.class_eval do
  private

  def added = 1
end
Mixes.instance_eval do
  private

  def own = 1
end
class Again
  private

  def wipe = 1
  def keep = 1
end
class Again
  def wipe = 2
end
module Functions
  module_function

  def helper = 1

  private

  def rest = 1
end
module Named
  def helper = 1
  def open = 1
  module_function :helper
end
def of_nobody = 1
private def of_main = 1
ask(Wiped.new(1), :a, :seen, :hidden, :wipe)
answers = ->(object, *names) { names.each { |name| p [name, object.respond_to?(name), (object.public_send(name) rescue "refused").to_s.sub(/0x\h+/, "")] } }
answers.call(made.new, :wipe, :looped, :one, :two, :four, :branched, :begun, :splat, :many, :open)
p made.new.respond_to?(:text)
ask(Mixes.new, :wipe, :inner, :after, :erased, :erase, :remove, :added)
answers.call(Mixes, :own)
ask(Again.new, :wipe, :keep)
answers.call(Functions, :helper)
answers.call(Class.new { include Functions }.new, :helper, :rest)
answers.call(Named, :helper)
answers.call(Class.new { include Named }.new, :helper, :open)
answers.call(Object.new, :of_nobody, :of_main)
p(%i[method_defined? public_method_defined? protected_method_defined? private_method_defined?].map { |question| %i[hidden guarded last open nope].map { |name| Actions.public_send(question, name) } })
p Below.method_defined?(:last, false), Below.method_defined?(:again, false), Below.method_defined?(:secret, false)
p 5.public_method(:+).call(3), (Actions.new.public_method(:hidden) rescue $!.class), (Actions.new.public_method(:nope) rescue $!.class)
