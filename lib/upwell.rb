# frozen_string_literal: true

# Programs and Bundler require this file. The commands and handlers run before the application, so they require only the library.
# If the application uses Rails, Rails is loaded before this file.
require_relative "upwell/library"
require_relative "upwell/railtie" if defined?(Rails::Railtie)
