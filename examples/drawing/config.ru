# frozen_string_literal: true

# A drawing board that is shared, over binary WebSocket messages: bundle exec upwell -w 2 examples/drawing/config.ru

require "tmpdir"
require_relative "board_file"
require_relative "painter_handler"

PAGE = File.read(File.join(__dir__, "index.html"))
BOARD = BoardFile.new(File.join(Dir.tmpdir, "upwell_drawing.#{Process.uid}"))

# Pages of other sites may not draw in the name of who looks at them.
def foreign?(env)
  env["HTTP_ORIGIN"] ? env["HTTP_ORIGIN"].sub(%r{\Ahttps?://}, "") != env["HTTP_HOST"] : false
end

run lambda { |env|
  next [404, {}, []] unless env["PATH_INFO"] == "/"
  next [200, { "content-type" => "text/html; charset=utf-8" }, [PAGE]] unless env["rack.upgrade?"] == :websocket
  next [403, {}, []] if foreign?(env)

  env["rack.upgrade"] = PainterHandler.new(BOARD)
  [101, {}, []]
}
