# frozen_string_literal: true

require_relative "config/environment"
require_relative "config/jobs_beside" if ENV["QUEUE"] == "config.ru"

run Rails.application
Rails.application.load_server
