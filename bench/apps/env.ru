# frozen_string_literal: true

# A lazily built env has to be built whole here.
run ->(env) { [200, { "content-type" => "text/plain" }, [env.to_s]] }
