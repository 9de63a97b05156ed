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
