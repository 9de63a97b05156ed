# frozen_string_literal: true

require "ipaddr"
p IPAddr.new("10.0.0.0/8").include?("10.2.3.4"), IPAddr.new("::1/128").include?("::1"), IPAddr.new("fc00::/7") === "fd00::1", IPAddr.new("127.0.0.1").loopback?
begin; IPAddr.new("x"); rescue IPAddr::InvalidAddressError => e; p e.class; end
