# frozen_string_literal: true

# A log that grows, followed by server-sent events: bundle exec upwell -w 2 examples/live_log/config.ru
#
# What is logged is who asks this application for what. POST /cut ends all followers' connections: they come back by
# themselves, and go on where they were.

require "tmpdir"
require_relative "follower_handler"
require_relative "rotated_log"

PAGE = File.read(File.join(__dir__, "index.html"))
LOG = RotatedLog.new(File.join(Dir.tmpdir, "upwell_live_log.#{Process.uid}"))

def answer(env)
  case env.values_at("REQUEST_METHOD", "PATH_INFO")
  when ["GET", "/"] then [200, { "content-type" => "text/html; charset=utf-8" }, [PAGE]]
  when ["GET", "/events"] then follow(env)
  when ["POST", "/cut"] then Upwell.publish("cut", "") && [204, {}, []]
  else [404, {}, []]
  end
end

def follow(env)
  return [406, {}, []] unless env["rack.upgrade?"] == :sse

  last = env["HTTP_LAST_EVENT_ID"] || Rack::Utils.parse_query(env["QUERY_STRING"])["after"]
  env["rack.upgrade"] = FollowerHandler.new(LOG, Integer(last, 10, exception: false))
  [200, {}, []]
end

def note(env, status)
  path = env["PATH_INFO"][0, 100].b.tr("^!-~", "?")
  LOG.append("#{Time.now.strftime("%H:%M:%S.%L")} #{Process.pid} #{status} #{env["REQUEST_METHOD"]} #{path}")
  Upwell.publish("log", "") # the file has it: this but rings the bell
end

run lambda { |env|
  response = answer(env)
  note(env, response.first)
  response
}
