# frozen_string_literal: true

begin; require "nothing/here"; rescue LoadError => e; p e.message, e.path; end
