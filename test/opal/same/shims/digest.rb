# frozen_string_literal: true

require "digest"
p Digest::MD5.hexdigest("é"), Digest::SHA1.hexdigest("a"), Digest::SHA256.hexdigest("\xff".b), Digest::SHA256.base64digest("a"), (Digest::SHA512.new << "a" << "b").hexdigest[0, 20], Digest::SHA2.new(384).update("x").hexdigest[0,9], Digest::SHA256.digest("a").bytesize
