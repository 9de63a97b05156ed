# frozen_string_literal: true

LARGE = ("x" * 1_048_576).freeze

run lambda { |env|
  case env["PATH_INFO"]
  when "/large" then [200, {}, [LARGE]]
  when "/stream" then [200, {}, Enumerator.new { |chunks| 64.times { chunks << LARGE[0, 16_384] } }]
  else [200, {}, [env["rack.input"].read.bytesize.to_s]]
  end
}
