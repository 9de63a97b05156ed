# frozen_string_literal: true

# Keeps its configuration as version 1.14.8 of the gem does, by thread.
module I18n
  Config = Struct.new(:locale)

  def self.config
    Thread.current.thread_variable_get(:i18n_config) || (self.config = Config.new)
  end

  def self.config=(config)
    Thread.current.thread_variable_set(:i18n_config, config)
  end
end

MET = Queue.new

# Each goes on when the other has come.
run(lambda { |env|
  I18n.config.locale = env["QUERY_STRING"]
  MET << nil
  sleep 0.01 until MET.size == 2
  [200, {}, [I18n.config.locale]]
})
