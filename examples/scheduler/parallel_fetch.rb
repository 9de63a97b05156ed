# frozen_string_literal: true

# Fetches all addresses at the same time: ruby examples/scheduler/parallel_fetch.rb ADDRESS...

require "net/http"
require "upwell"

Fiber.set_scheduler(Upwell::Scheduler.new)
ARGV.each do |address|
  Fiber.schedule do
    response = Net::HTTP.get_response(URI(address))
    puts "#{address}: #{response.code}, #{response.body.bytesize} bytes"
  rescue StandardError => e
    puts "#{address}: #{e.message}"
  end
end
