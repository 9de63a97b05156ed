# frozen_string_literal: true

require "mongoid"

run ->(_env) { [200, {}, []] }
