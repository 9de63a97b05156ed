# frozen_string_literal: true

module Upwell
  VERSION = "0.1.0"
end
