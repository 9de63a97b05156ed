# frozen_string_literal: true

require "bundler/setup"
require "rails"
%w[active_record/railtie action_controller/railtie action_view/railtie active_job/railtie action_cable/engine].each { |part| require part }
Bundler.require(:default)

# Loses bodies, as careless middleware does: nothing closes them.
class Dropping
  def initialize(app)
    @app = app
  end

  def call(env)
    response = @app.call(env)
    env["HTTP_DROP"] ? [404, {}, []] : response
  end
end

# An application as Rails generates it, with what can go wrong where a server mixes its requests up.
class Notes < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.eager_load = Rails.env.production?
  config.enable_reloading = !config.eager_load
  config.file_watcher = ActiveSupport::FileUpdateChecker
  config.secret_key_base = "0" * 64
  config.hosts.clear
  config.i18n.available_locales = %i[en de fr]
  config.logger = Logger.new($stderr)
  config.log_level = :warn
  config.action_cable.disable_request_forgery_protection = true
  config.action_controller.perform_caching = false
  config.active_support.isolation_level = ENV["ISOLATION"].to_sym if ENV["ISOLATION"]
  config.middleware.insert_before ActionDispatch::Executor, Dropping
  config.active_job.queue_adapter = :solid_queue if ENV["QUEUE"]
end
