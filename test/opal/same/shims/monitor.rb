# frozen_string_literal: true

require "monitor"
m = Monitor.new; p m.synchronize { m.synchronize { 1 } }
