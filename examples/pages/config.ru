# frozen_string_literal: true

# Pages of plain Rack: bundle exec up_ruby examples/pages/config.ru, or up, up_node, up_bun.

require_relative "pages"

run Pages
