# backtick_javascript: true
# frozen_string_literal: true

NAMES = %w[REQUEST_METHOD REQUEST_URI HTTP_X_WHO REMOTE_ADDR SERVER_NAME SSL_PROTOCOL SSL_CIPHER HTTPS].freeze

# Keeps every env without a look at it. A request that the counter makes the last tells what all of them have.
count = 0
envs = []
run(lambda do |env|
  envs << env
  next [200, {}, ["kept"]] if (count += 1) < ENV.fetch("KEPT").to_i

  [200, {}, [envs[0..-2].map { |kept| kept.values_at(*NAMES).join(" ") }.join("\n")]]
end)
