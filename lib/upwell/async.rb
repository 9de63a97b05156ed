# frozen_string_literal: true

require "async"
require_relative "../upwell"
require_relative "scheduler/async_gem_tasks"
