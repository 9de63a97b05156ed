# frozen_string_literal: true

require "erb"
