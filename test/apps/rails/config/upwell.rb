# frozen_string_literal: true

before_fork { require "./config/jobs_beside" } if ENV["QUEUE"] == "before_fork"
