# frozen_string_literal: true

# Each worker publishes numbers of its own while the file "publish" is in the folder FOLDER, and hears all workers. Once there is the file
# "report" it reports to a file named after its process, again and again.

require "json"

PAUSE = 0.005 # seconds between messages
REPORT_PAUSE = 0.1 # seconds between reports
FOLDER = ENV.fetch("FOLDER")

heard = Hash.new { |numbers, publisher| numbers[publisher] = [] }
Upwell.subscribe("news") do |_channel, message|
  publisher, number = message.split
  heard[publisher] << number.to_i
end

there = ->(name) { File.exist?(File.join(FOLDER, name)) }

publish = lambda do
  accepted = number = 0
  while there.call("publish")
    accepted += 1 if Upwell.publish("news", "#{Process.pid} #{number += 1}")
    sleep PAUSE
  end
  accepted
end

report = lambda do |accepted|
  path = File.join(FOLDER, Process.pid.to_s)
  stats = Upwell::PubSub.default.stats.merge(dropped: Upwell::PubSub::CLUSTER.stats[:dropped])
  File.write(path, JSON.generate("accepted" => accepted, "heard" => heard, "stats" => stats))
  File.rename(path, "#{path}.json")
end

Thread.new do
  sleep PAUSE until there.call("publish")
  accepted = publish.call
  sleep PAUSE until there.call("report")
  loop { report.call(accepted) && sleep(REPORT_PAUSE) }
end

run ->(_env) { [200, {}, ["here"]] }
