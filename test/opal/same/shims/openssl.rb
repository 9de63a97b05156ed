# frozen_string_literal: true

require "openssl"
p OpenSSL::HMAC.hexdigest("SHA256", "k", "data"), OpenSSL::HMAC.hexdigest(OpenSSL::Digest.new("SHA1"), "k", "é"), OpenSSL::HMAC.digest("SHA256", "\xff".b, "x").bytesize, OpenSSL::Digest::SHA256.hexdigest("a"), OpenSSL.fixed_length_secure_compare("ab", "ab"), OpenSSL.secure_compare("a", "b")
c = OpenSSL::Cipher.new("aes-256-gcm").encrypt; c.key = "k" * 32; c.iv = "i" * 12; c.auth_data = ""
e = c.update("secret") + c.final; tag = c.auth_tag; p e.unpack1("H*"), tag.unpack1("H*")
d = OpenSSL::Cipher.new("aes-256-gcm").decrypt; d.key = "k" * 32; d.iv = "i" * 12; d.auth_tag = tag; d.auth_data = ""; p d.update(e) + d.final
d = OpenSSL::Cipher.new("aes-256-gcm").decrypt; d.key = "k" * 32; d.iv = "i" * 12; d.auth_tag = "x" * 16; d.auth_data = ""
begin; d.update(e); d.final; rescue OpenSSL::Cipher::CipherError => x; p x.class; end
c = OpenSSL::Cipher.new("aes-256-ctr").encrypt; c.key = "k" * 32; c.iv = "i" * 16; p((c.update("secret") + c.final).unpack1("H*"))
