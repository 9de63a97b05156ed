# frozen_string_literal: true

require "timeout"; p Timeout.timeout(1) { 2 }
