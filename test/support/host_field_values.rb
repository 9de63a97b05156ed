# frozen_string_literal: true

# Values of Host that RFC 3986, section 3.2.2, and so Rack::Lint, allow, and such that they do not.
module HostFieldValues
  SOUND_HOSTS = ["example.org", "a:80", "a:", "a%41", "a_b", "a,b", "1.2.3.4:5", "[::1]", "[::1]:80", "[2001:db8::7.8.9.10]"].freeze
  UNSOUND_HOSTS = ["a%", "%4", "a%4g", "a%:80", "[:]", "[::1", "[::1]a", "[1.2.3.4]", "[::12345]", "[fe80::1%25eth0]", "a b", "a@b", "a:b",
                   "a:99999", ":80", "a\\b", "a\"b", "a<b>"].freeze
end
