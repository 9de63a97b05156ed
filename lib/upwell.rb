# frozen_string_literal: true

# What a program requires, and Bundler for an application. The commands and handlers, which are there before the application, require the library
# alone: so Rails is there, if at all, when this file is read.
require_relative "upwell/library"
require_relative "upwell/railtie" if defined?(Rails::Railtie)
