# frozen_string_literal: true

require_relative "candidates"
require_relative "workload"

module Bench
  # What to run, from the environment.
  class Options
    Error = Class.new(StandardError)

    DEFAULTS = { "ROUNDS" => "5", "SECONDS" => "5", "CONNECTIONS" => "64,1024", "NAME" => "servers" }.freeze
    QUICK = { "ROUNDS" => "1", "SECONDS" => "2", "CONNECTIONS" => "64", "NAME" => "quick", "WORKLOADS" => "hello" }.freeze

    attr_reader :rounds, :seconds, :connections, :workloads, :candidates, :name

    def initialize(environment)
      values = { **DEFAULTS, **(environment["QUICK"] ? QUICK : {}), **environment.to_h }
      @rounds = count(values, "ROUNDS")
      @seconds = count(values, "SECONDS")
      @connections = values["CONNECTIONS"].split(",").map { |number| count({ "CONNECTIONS" => number }, "CONNECTIONS") }
      @workloads = choose(WORKLOADS, values, "WORKLOADS")
      @candidates = choose(CANDIDATES, values, "SERVERS")
      @name = values["NAME"]
    end

    private

    def count(values, key)
      number = Integer(values[key], exception: false)
      number&.positive? ? number : raise(Error, "#{key} has to be a positive number, not #{values[key].inspect}")
    end

    def choose(all, values, key)
      names = values[key]&.split(",") or return all
      unknown = names - all.map(&:name)
      raise Error, "#{key}: there is no #{unknown.join(", ")}; there are #{all.map(&:name).join(", ")}" if unknown.any?

      all.select { |item| names.include?(item.name) }
    end
  end
end
