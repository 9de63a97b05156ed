# backtick_javascript: true
# frozen_string_literal: true

NAMES = %w[REQUEST_METHOD REQUEST_URI HTTP_X_WHO REMOTE_ADDR SERVER_NAME SSL_PROTOCOL SSL_CIPHER HTTPS].freeze
LOOK = ENV.fetch("LOOK")
BODY = LOOK == "each" ? ["kept"].each : ["kept"]

def told(env)
  env.values_at(*NAMES).join(" ")
rescue IOError => e
  "#{e.class}: #{e.message}"
end

# Keeps every env. A request that the counter makes the last tells what all of them have.
count = 0
envs = []
run(lambda do |env|
  envs << env
  env[LOOK] unless ["", "each"].include?(LOOK)
  next [200, {}, BODY] if (count += 1) < ENV.fetch("KEPT").to_i

  [200, {}, [envs[0..-2].map { |kept| told(kept) }.join("\n")]]
end)
