# frozen_string_literal: true

require "securerandom"
p SecureRandom.hex(4).size, SecureRandom.random_bytes(5).bytesize, SecureRandom.uuid.size, SecureRandom.random_number(5).between?(0, 4), SecureRandom.alphanumeric(6).size, SecureRandom.urlsafe_base64.size
