# frozen_string_literal: true

require_relative "../test_helper"
require "upwell/media_types"

class MediaTypesTest < Minitest::Test
  TABLE = Upwell::MediaTypes.table.to_h

  def test_what_the_web_is_made_of
    { "html" => "text/html; charset=utf-8", "css" => "text/css; charset=utf-8", "js" => "text/javascript; charset=utf-8",
      "mjs" => "text/javascript; charset=utf-8", "json" => "application/json", "svg" => "image/svg+xml", "png" => "image/png",
      "wasm" => "application/wasm", "woff2" => "font/woff2", "mp4" => "video/mp4", "webmanifest" => "application/manifest+json",
      "txt" => "text/plain; charset=utf-8", "pdf" => "application/pdf" }.each { |extension, type| assert_equal type, TABLE[extension] }
  end

  def test_the_core_can_look_up_in_it
    extensions = Upwell::MediaTypes.table.map(&:first)
    assert_equal extensions.sort.uniq, extensions
    assert_operator extensions.size, :>, 1_000
    Upwell::MediaTypes.table.each do |extension, type|
      assert_match(/\A[^A-Z\s.]+\z/, extension)
      assert_match(/\A[\w.+-]+\/[\w.+-]+(; charset=utf-8)?\z/, type)
    end
  end
end
