# frozen_string_literal: true

# Answers /0 as the first of ResponseWireCases says, /1 as the second; /next plainly; /closes/0 with how often the body was closed.

require "rack"
require "timeout"

RACK_2 = Rack.release.start_with?("2.") unless defined?(RACK_2)
require_relative "response_wire_cases"

cases = ResponseWireCases::CASES.to_a
run lambda { |env|
  path = env["PATH_INFO"].delete_prefix("/")
  next [200, {}, ["next"]] if path == "next"
  next [200, {}, [ResponseWireCases::CLOSED[cases[Integer(path.delete_prefix("closes/"))].first].to_s]] if path.start_with?("closes/")

  name, one = cases[Integer(env["HTTP_X_CASE"])]
  env["odd.name"] = name
  one.app.call(env)
}
