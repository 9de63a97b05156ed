# backtick_javascript: true
# frozen_string_literal: true

# What the runtime knows of it.
module Process
  def self.pid
    `process.pid`
  end

  def self.ppid
    `process.ppid`
  end

  def self.uid
    `process.getuid()`
  end
end
