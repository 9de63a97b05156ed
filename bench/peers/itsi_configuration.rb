# frozen_string_literal: true

# Itsi answers 503 when more than 30 requests wait for a thread, unless it is told otherwise.
ruby_thread_request_backlog_size 2048
