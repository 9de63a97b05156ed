# frozen_string_literal: true

require "base64"
p Base64.encode64("a" * 50), Base64.strict_encode64("é"), Base64.urlsafe_encode64("\xff\xfe".b), Base64.decode64("w6k=\n").bytes, Base64.urlsafe_decode64("__4").bytes
begin; Base64.strict_decode64("a"); rescue ArgumentError => e; p e.message; end
