# frozen_string_literal: true

require "erb"
p ERB::Util.h("<&>"), ERB::Util.url_encode("a b/~*é")
