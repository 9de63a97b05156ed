# frozen_string_literal: true

# Keeps its configuration as version 1.14.8 of the gem does, by thread. The first one may be frozen, and is not for everybody to change then.
module I18n
  Config = Struct.new(:locale)

  def self.config
    Thread.current.thread_variable_get(:i18n_config) || (self.config = Config.new)
  end

  def self.config=(config)
    Thread.current.thread_variable_set(:i18n_config, config)
  end

  def self.writable_config
    config.frozen? ? (self.config = config.dup) : config
  end

  def self.locale=(locale)
    writable_config.locale = locale
  end

  def self.with_locale(locale)
    before = config.locale
    self.locale = locale
    yield
  ensure
    self.locale = before
  end
end

MET = Queue.new

# Each goes on when the other has come.
def meet
  MET << nil
  sleep 0.01 until MET.size.even?
end

ANSWERS = {
  "/set" => lambda { |locale|
    I18n.locale = locale
    meet
    I18n.config.locale
  },
  "/frozen" => lambda { |locale|
    I18n.config = I18n::Config.new("en").freeze
    I18n.locale = locale
    meet
    I18n.config.locale
  },
  "/with" => lambda { |locale|
    I18n.with_locale(locale) do
      meet
      I18n.config.locale
    end + I18n.config.locale.inspect
  }
}.freeze

run ->(env) { [200, {}, [ANSWERS.fetch(env["PATH_INFO"]).call(env["QUERY_STRING"])]] }
